//! Tests of the simulator: equal seeds give equal runs, each scenario passes some hundred seeds and
//! shows all its rare events, and all seeds that ever failed pass.

mod determinism;
mod seeds;
