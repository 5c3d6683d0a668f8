//! Waiting for snapshots.

use std::time::Duration;

use cellar::Client;
use cellar_base::identity::LogId;
use cellar_base::position::Position;

/// Snapshots are made by a worker that shares the machine with all other tests.
const PATIENCE: Duration = Duration::from_secs(240);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(30);

/// Waits until a load begins with the root of a snapshot at `least` or behind it.
pub async fn wait_for_root(client: &Client, log: LogId, least: Position) {
    let wait = async {
        loop {
            let loaded = client.load(log, None).await.unwrap();
            if loaded.root.is_some() && loaded.entries[0].position >= least {
                return;
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    waited.unwrap_or_else(|_| panic!("no snapshot at {least} or behind it"));
}
