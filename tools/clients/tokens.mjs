// tokens.mjs MOST < TOOLS: how many tokens of o200k_base a list of tools is, as it stands on the wire; fails beyond MOST.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const require = createRequire(new URL('../../target/clients/', import.meta.url));
const { encode } = require('gpt-tokenizer/encoding/o200k_base');
const listed = JSON.parse(readFileSync(0, 'utf8'));
const { tools } = listed.result ?? listed;
const tokens = encode(JSON.stringify({ tools })).length;
console.log(`tools/list has ${tokens} tokens (o200k_base) for ${tools.length} tools`);
if (tokens > Number(process.argv[2])) {
    console.error(`that is more than ${process.argv[2]}`);
    process.exit(1);
}
