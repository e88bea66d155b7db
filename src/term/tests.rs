//! Tests of the terminal as a whole.
