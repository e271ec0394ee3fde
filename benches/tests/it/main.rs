//! What holds for the benchmarks as a program?

mod table;
