#!/bin/sh
# Slurm and munge for `make test-cluster`: as root by apt where they are not there. Nothing is started, and /etc is not used.
command -v slurmctld >/dev/null && command -v munged >/dev/null && exit 0
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "Slurm is not installed, and cannot be without root and apt: its tests are left out (Debian: slurm-wlm munge)." >&2
    exit 0
fi
apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends slurm-wlm munge >/dev/null
