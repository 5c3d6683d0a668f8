//! Checks that every append ends, and that every forward read sees a prefix of the log.

use cellar_models::attempts::AttemptsModel;
use cellar_models::reader::ReaderModel;
use stateright::{Checker, Model};

#[test]
fn an_append_ends_within_its_limits_whatever_the_store_answers() {
    let model = AttemptsModel { max_puts: 3, max_reads: 2, max_steps: 32 };
    let checker = model.checker().threads(2).spawn_bfs().join();
    println!("attempts: {} states, depth {}", checker.unique_state_count(), checker.max_depth());
    checker.assert_properties();
}

#[test]
fn a_reader_sees_a_growing_prefix_of_the_log() {
    for page_entries in [1, 3] {
        let model = ReaderModel { page_entries, growth: 5, torn: 2 };
        let checker = model.checker().threads(2).spawn_bfs().join();
        println!("reader: {} states, depth {}", checker.unique_state_count(), checker.max_depth());
        checker.assert_properties();
    }
}
