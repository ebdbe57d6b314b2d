export OPENAI_API_KEY=x PYTHONPATH=/tmp/wt-api
P=/tmp/venv/dev/bin/python
go() { # name, server args
  $P /tmp/wt-api/benchmarks/mock_server.py $2 > /tmp/cb/p.txt & S=$!; sleep 0.7; PORT=$(cat /tmp/cb/p.txt); rm -rf /tmp/cb/apir /tmp/cb/apic
  /usr/bin/time -f "$1 %es user %U" $P -m harness model=openai model.model=mock model.base_url=http://127.0.0.1:$PORT/v1 results=/tmp/cb/apir cache.path=/tmp/cb/apic $3 2>&1 >/dev/null | tail -4
  $P -c "
import urllib.request; print(urllib.request.urlopen('http://127.0.0.1:$PORT/stats').read().decode())"
  kill $S
}
go plain "" ""
go "200 a second" "--rate 200" ""
go "200 a second, Retry-After" "--rate 200 --retry-after" ""
go faults "--refuse 0.2 --fail 0.05" ""
