use cellar_api::wire::{LevelStats, SnapshotStats, StatsReply};

use super::args;
use super::context::Context;
use super::error::CliError;
use super::output::Output;

pub(super) async fn show_statistics(
    context: &Context,
    output: &Output,
    args: args::Stats,
) -> Result<(), CliError> {
    let spreadsheet = match args.target {
        Some(target) => context.client()?.spreadsheet(context.find(&target).await?.id),
        None => context.spreadsheet()?,
    };
    let stats = spreadsheet.stats(context.seen_position(&spreadsheet)).await?;
    output.print_json(&stats)?;
    output.print_lines(format_stats(&stats))?;
    Ok(())
}

fn format_stats(stats: &StatsReply) -> Vec<String> {
    let Some(snapshot) = &stats.snapshot else {
        return vec![
            format!("head       {}", stats.head),
            format!("snapshot   none; opening reads {} entries", stats.entries_since),
        ];
    };
    let SnapshotStats { position, entries, cells, bytes, .. } = snapshot;
    let mut lines = vec![
        format!("head       {}, {} entries after the snapshot", stats.head, stats.entries_since),
        format!("snapshot   {position}, of {entries} entries"),
        format!(
            "cells      {cells} in {}{}",
            format_kilobytes(*bytes),
            format_bytes_per_cell(*bytes, *cells)
        ),
        format!(
            "opening    {} objects, {}, in {} round trips",
            stats.open.objects,
            format_kilobytes(stats.open.bytes),
            stats.open.round_trips
        ),
        "levels     last entry   cells   bytes   chunks".to_owned(),
    ];
    let levels_newest_first = snapshot.levels.iter().rev();
    lines.extend(levels_newest_first.map(level_line));
    lines
}

fn level_line(level: &LevelStats) -> String {
    let LevelStats { last, cells, bytes, .. } = level;
    let chunks = if level.in_root { "in the root".to_owned() } else { level.chunks.to_string() };
    format!("           {last}   {cells}   {}   {chunks}", format_kilobytes(*bytes))
}

fn format_kilobytes(bytes: u64) -> String {
    format!("{} KB", bytes.div_ceil(1_000))
}

/// Returns an empty string if `cells` is 0.
fn format_bytes_per_cell(bytes: u64, cells: u64) -> String {
    let Some(hundredths) = bytes.saturating_mul(100).checked_div(cells) else {
        return String::new();
    };
    format!(" ({}.{:02} bytes per cell)", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use cellar_api::wire::OpenStats;
    use cellar_base::position::Position;

    use super::*;

    #[test]
    fn lists_levels_newest_first() {
        let at = |num| Position::new(0, num).unwrap();
        let level = |last, cells, bytes, chunks, in_root| LevelStats {
            last: at(last),
            cells,
            bytes,
            chunks,
            in_root,
        };
        let snapshot = SnapshotStats {
            position: at(1_001),
            entries: 1_002,
            cells: 1_100,
            bytes: 3_025,
            levels: vec![level(500, 1_000, 2_500, 2, false), level(1_001, 100, 525, 0, true)],
        };
        let open = OpenStats { objects: 2, bytes: 2_900, round_trips: 2 };
        let mut stats =
            StatsReply { head: at(1_010), snapshot: Some(snapshot), entries_since: 9, open };
        assert_eq!(
            format_stats(&stats),
            [
                "head       0.1010, 9 entries after the snapshot",
                "snapshot   0.1001, of 1002 entries",
                "cells      1100 in 4 KB (2.75 bytes per cell)",
                "opening    2 objects, 3 KB, in 2 round trips",
                "levels     last entry   cells   bytes   chunks",
                "           0.1001   100   1 KB   in the root",
                "           0.500   1000   3 KB   2",
            ]
        );
        stats.snapshot = None;
        let none = "snapshot   none; opening reads 9 entries";
        assert_eq!(format_stats(&stats), ["head       0.1010", none]);
    }
}
