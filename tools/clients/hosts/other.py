"""A server of the Model Context Protocol that a user had before: it has one tool, and says so."""

import json
import sys

TOOL = {"name": "other_ping", "description": "Answers.", "inputSchema": {"type": "object", "properties": {}}}

for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {}
    if message["method"] == "initialize":
        version = message["params"]["protocolVersion"]
        result = {
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "other", "version": "1"},
        }
    elif message["method"] == "tools/list":
        result = {"tools": [TOOL]}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
