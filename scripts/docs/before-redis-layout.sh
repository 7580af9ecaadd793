# What docs/redis-layout.md takes for granted: a broker on port 8080 with its data in ./data, and what has happened on it.
# serve: belfry serve
BELFRY_TOKEN=$(belfry token --data data --sub office --role app) python3 scripts/docs/redis_layout.py
