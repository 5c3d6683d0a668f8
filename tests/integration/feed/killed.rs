//! The local cloud as a process, repeatedly killed with SIGKILL while spreadsheets are created,
//! renamed and shared: the feed has every change once, and the lists agree with the catalog.

use cellar::{Client, SpreadsheetsQuery};
use cellar_api::{wire::CreateRequest, wire::ShareRequest, wire::UpdateDetailsRequest};
use cellar_catalog::access::Role;
use tokio::sync::watch;

use super::{names, streams, until};
use crate::kills::Killed;

const KILLS: u32 = 6;

/// Creates, renames and shares spreadsheets until it is stopped. Returns the id and the name of
/// each.
async fn edit_spreadsheets(
    url: String,
    token: String,
    stop: watch::Receiver<bool>,
) -> Vec<(String, String)> {
    let client = Client::new(&url, Some(&token)).unwrap();
    let mut made = Vec::new();
    while !*stop.borrow() {
        let number = made.len();
        let nonce = format!("killed {number}");
        let request = CreateRequest { nonce, name: Some(format!("Budget {number}")) };
        let created = repeated(|| client.create(&request)).await;
        let spreadsheet = client.spreadsheet(created.id);
        let name = format!("Plan {number}");
        let rename = UpdateDetailsRequest { name: Some(name.clone()), status: None };
        repeated(|| spreadsheet.update_details(&rename, None)).await;
        let share = ShareRequest { subject: "bob".to_owned(), issuer: None, role: Role::Viewer };
        repeated(|| spreadsheet.share(&share, None)).await;
        made.push((format!("Spreadsheet-{}", created.id), name));
    }
    made
}

/// Repeats a request until it gets a reply.
async fn repeated<T, F>(ask: impl Fn() -> F) -> T
where
    F: Future<Output = Result<T, cellar::ClientError>>,
{
    loop {
        match ask().await {
            Ok(answer) => return answer,
            Err(error) if error.is_offline() => {
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sigkill_in_the_middle_of_indexing_loses_and_doubles_nothing() {
    let mut cloud = Killed::new();
    let (stop, stopped) = watch::channel(false);
    let working = tokio::spawn(edit_spreadsheets(cloud.url.clone(), cloud.token.clone(), stopped));
    for _ in 0..KILLS {
        cloud.kill_soon().await;
    }
    stop.send_replace(true);
    let made = working.await.unwrap();
    assert!(made.len() > 3, "{}", made.len());
    // Unacknowledged changes may also have been made.
    let operator = Client::new(&cloud.url, Some(&cloud.token)).unwrap();
    let wanted = ["Created", "Renamed", "Shared"];
    let whole = async || {
        let streams = streams(&operator).await;
        made.iter().all(|(stream, _)| streams.get(stream).is_some_and(|kinds| kinds == &wanted))
    };
    until(true, whole).await;
    let listed = names(&operator, &SpreadsheetsQuery::default()).await;
    for (_, name) in &made {
        assert!(listed.contains(&(name.clone(), Role::Owner)), "{name}: {listed:?}");
    }
    println!("{} spreadsheets, {KILLS} kills", made.len());
}
