//! Measures Bowerbird.
fn main() {}
