//! The simulator's part of the test command: equal seeds give equal runs, each scenario holds for some
//! hundred seeds in which everything rare has happened, and so do all seeds that ever failed.

mod determinism;
mod seeds;
