//! Language analysis and the lexical index. User text never reaches a query language.
