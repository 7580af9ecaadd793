# clients/javascript/README.md takes a broker for granted.
# serve: belfry serve
cd .
