//! The panemirror command.
fn main() {}
