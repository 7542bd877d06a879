//! Local embedding: MiniLM in int8, its tokenizer and its packed file. Vectors of different models never meet.

pub mod wordpiece;
