//! Every append ends, and every forward read sees the beginning of the log.

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
fn a_reader_sees_the_beginning_of_the_log_and_never_less_than_before() {
    for page_entries in [1, 3] {
        let model = ReaderModel { page_entries, growth: 5, torn: 2 };
        let checker = model.checker().threads(2).spawn_bfs().join();
        println!("reader: {} states, depth {}", checker.unique_state_count(), checker.max_depth());
        checker.assert_properties();
    }
}
