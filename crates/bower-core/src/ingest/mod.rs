//! From a folder to chunks: walk, parse, chunk, compare. Reads files, writes nothing, knows no store.
