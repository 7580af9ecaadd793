# What docs/command-line.md takes for granted: a configuration with a mistake, and the folders that shells read.
mkdir -p ~/.zfunc ~/.config/fish/completions /usr/local/share/man/man1
printf '{"limits": {"retention": 1}}\n' >belfry.json
export BELFRY_LISTEN=0.0.0.0:8080
