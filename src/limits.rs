//! Every cap of the program, with its unit and its reason.
