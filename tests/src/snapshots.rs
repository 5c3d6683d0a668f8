//! Waiting for snapshots.

use std::time::Duration;

use cellar::Client;
use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// Maximum wait for a snapshot. Long, because the worker shares the machine with all tests.
const PATIENCE: Duration = Duration::from_secs(240);
/// Polling interval.
const PAUSE: Duration = Duration::from_millis(30);

/// Waits until the root returned by a load belongs to a snapshot at or after `least`.
pub async fn wait_for_root(client: &Client, log: LogId, least: Position) {
    let wait = async {
        loop {
            let loaded = client.spreadsheet(log).load(None).await.unwrap();
            if loaded.root.is_some() && loaded.entries[0].position >= least {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    waited.unwrap_or_else(|_| panic!("no snapshot at or after {least}"));
}
