//! The history that two spreadsheets share.

use cellar_base::identity::LogId;
use cellar_base::position::Position;

use crate::{ClientError, Spreadsheet};

/// Returns the last position up to which the spreadsheets have the same entries, and not after the given
/// positions. Returns `None` if they share no entries, or only those of a spreadsheet that the token
/// cannot read.
pub(super) async fn last_shared_position(
    from: (&Spreadsheet, Position),
    to: (&Spreadsheet, Position),
) -> Result<Option<Position>, ClientError> {
    let (from, to) = tokio::try_join!(ancestors(from), ancestors(to))?;
    let shared = to.iter().find_map(|(ancestor, to_position)| {
        let (_, from_position) = from.iter().find(|(id, _)| id == ancestor)?;
        Some(*from_position.min(to_position))
    });
    Ok(shared)
}

/// Returns the spreadsheet and the spreadsheets from which it descends, each with the last position that
/// it has in common with them.
async fn ancestors(
    (spreadsheet, at): (&Spreadsheet, Position),
) -> Result<Vec<(LogId, Position)>, ClientError> {
    let mut ancestors = vec![(spreadsheet.id(), at)];
    let mut current = spreadsheet.clone();
    let mut position = at;
    while let Some(source) = current.load(None).await?.source {
        position = position.min(source.position);
        ancestors.push((source.spreadsheet, position));
        current = spreadsheet.client().spreadsheet(source.spreadsheet);
    }
    Ok(ancestors)
}
