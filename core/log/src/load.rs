//! Determines the position at which a load or an update starts to read, based on the records of the
//! latest segments.

use crate::segment::Segment;
use cellar_base::position::Position;

/// The start of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadPlan {
    /// The log has no segments, so it does not exist.
    NoLog,
    /// First position to read: the Snapshot entry of the latest finished snapshot, or the log's
    /// first entry if no snapshot has finished.
    From(Position),
    /// The log is corrupt, because neither of the two latest segments has a snapshot. In a valid
    /// log, a segment is closed only after its first snapshot.
    Corrupt {
        /// Latest segment number.
        segment: u32,
    },
}

/// The start of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UpdatePlan {
    /// The log has no segments, so it does not exist.
    NoLog,
    /// The client's segment is one of the two latest segments. Continue to read after the client's
    /// position.
    ReadOn,
    /// The client's segment is too old for an update. Load the spreadsheet from scratch.
    Reload,
}

/// Plans a load from the records of the log's two latest segments, latest first.
#[must_use]
pub fn plan_load(newest_segments: &[Segment]) -> LoadPlan {
    let Some(current_segment) = newest_segments.first() else {
        return LoadPlan::NoLog;
    };
    if let Some(snapshot) = newest_segments.iter().find_map(Segment::newest_snapshot) {
        return LoadPlan::From(snapshot);
    }
    // If the log is a fork, the older record may represent all its inherited segments.
    let is_fork_record = |segment: &Segment| segment.num == 0 && segment.lineage.is_some();
    if current_segment.num == 0 || newest_segments.iter().any(is_fork_record) {
        return LoadPlan::From(Position::FIRST);
    }
    LoadPlan::Corrupt { segment: current_segment.num }
}

/// Plans an update for a client that has read all entries up to `read_position`, based on the
/// records of the log's two latest segments.
#[must_use]
pub fn plan_update(newest_segments: &[Segment], read_position: Position) -> UpdatePlan {
    // A fork's first record represents all inherited segments, so it is treated as the record of
    // the last inherited segment.
    let last_segment_num = |segment: &Segment| match segment.lineage {
        Some(lineage) => lineage.position.segment(),
        None => segment.num,
    };
    let Some(oldest_segment_num) = newest_segments.iter().map(last_segment_num).min() else {
        return UpdatePlan::NoLog;
    };
    if read_position.segment() >= oldest_segment_num {
        UpdatePlan::ReadOn
    } else {
        UpdatePlan::Reload
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lineage::Lineage;
    use cellar_base::identity::LogId;

    fn segment(num: u32, last_snapshot: Option<u32>) -> Segment {
        let log = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
        Segment { log, num, created_s: 0, last_snapshot, offloaded: None, lineage: None }
    }

    /// Returns the first two records of a fork at position 4.7.
    fn fork(last_snapshot: Option<u32>, inherited: Option<Position>) -> [Segment; 2] {
        let first = segment(0, None);
        let lineage = Lineage {
            source: first.log,
            position: Position::new(4, 7).unwrap(),
            position_ends_segment: false,
            family: first.log,
            depth: 1,
            snapshot: inherited,
            forked_s: 0,
        };
        [segment(5, last_snapshot), Segment { lineage: Some(lineage), ..first }]
    }

    #[test]
    fn forks_load_from_their_own_snapshot_or_the_newest_inherited_one() {
        let inherited = Position::new(3, 9).ok();
        assert_eq!(plan_load(&fork(Some(0), inherited)), from(5, 0));
        assert_eq!(plan_load(&fork(None, inherited)), from(3, 9));
        assert_eq!(plan_load(&fork(None, None)), from(0, 0));
        let plan = |segment| plan_update(&fork(None, None), Position::new(segment, 5).unwrap());
        assert_eq!(plan(4), UpdatePlan::ReadOn);
        assert_eq!(plan(3), UpdatePlan::Reload);
    }

    fn from(segment: u32, num: u32) -> LoadPlan {
        LoadPlan::From(Position::new(segment, num).unwrap())
    }

    #[test]
    fn loads_start_at_the_newest_snapshot() {
        assert_eq!(plan_load(&[]), LoadPlan::NoLog);
        assert_eq!(plan_load(&[segment(0, None)]), from(0, 0));
        assert_eq!(plan_load(&[segment(0, Some(7))]), from(0, 7));
        assert_eq!(plan_load(&[segment(3, None), segment(2, Some(9))]), from(2, 9));
        assert_eq!(plan_load(&[segment(3, Some(0)), segment(2, Some(9))]), from(3, 0));
        let none = [segment(3, None), segment(2, None)];
        assert_eq!(plan_load(&none), LoadPlan::Corrupt { segment: 3 });
    }

    #[test]
    fn updates_read_on_within_the_two_newest_segments() {
        let newest_segments = [segment(3, None), segment(2, Some(9))];
        let plan = |segment| plan_update(&newest_segments, Position::new(segment, 5).unwrap());
        assert_eq!(plan(3), UpdatePlan::ReadOn);
        assert_eq!(plan(2), UpdatePlan::ReadOn);
        assert_eq!(plan(1), UpdatePlan::Reload);
        assert_eq!(plan_update(&[], Position::FIRST), UpdatePlan::NoLog);
    }
}
