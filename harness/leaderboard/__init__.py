"""The leaderboard: tables of measured runs; plug-ins set other tables beside them, or in their place."""
