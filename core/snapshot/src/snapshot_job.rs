//! Snapshot jobs: queue messages that each request one snapshot. The relay sends them; workers
//! resend the messages of other pending snapshots.

use serde::Deserialize;

use cellar_base::identity::LogId;
use cellar_base::limits::{MAX_SEGMENTS, MAX_SNAPSHOT_JOB_BYTES};
use cellar_base::position::Position;

/// Version of the message format. All released versions remain readable.
const VERSION: u32 = 1;

/// Request to build the snapshot of one Snapshot entry. Jobs may be delivered several times, late,
/// or out of order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SnapshotJob {
    /// Id of the log.
    pub log: LogId,
    /// Position of the Snapshot entry.
    pub position: Position,
}

/// The message is not a snapshot job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SnapshotJobError {
    /// The message exceeds the maximum length of a snapshot job.
    #[error("the message has {bytes} bytes; a snapshot job has at most {MAX_SNAPSHOT_JOB_BYTES}")]
    TooLong {
        /// Message length in bytes.
        bytes: usize,
    },
    /// The message is not the JSON of a snapshot job.
    #[error("the message is not a snapshot job: {why}")]
    Malformed {
        /// Reason.
        why: String,
    },
    /// The job was written by a newer version of Cellar.
    #[error(
        "the snapshot job has version {version}; this build reads up to {VERSION}: upgrade Cellar"
    )]
    LaterVersion {
        /// Version of the job.
        version: u32,
    },
    /// The job's segment number is out of range.
    #[error("the snapshot job has segment number {segment}; it must be below {MAX_SEGMENTS}")]
    Segment {
        /// Segment number of the job.
        segment: u32,
    },
}

/// Decoded first, to distinguish a job of a newer version of Cellar from a malformed message.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Version1 {
    #[serde(rename = "version")]
    _version: u32,
    log: LogId,
    segment: u32,
    num: u32,
}

impl SnapshotJob {
    /// Encodes the job as a compact JSON message body. Equal jobs yield equal bodies.
    #[must_use]
    pub fn encode(&self) -> String {
        let Self { log, position } = self;
        let segment = position.segment();
        let entry_number = position.entry_number();
        // Numbers and UUIDs do not need escaping in JSON.
        format!(r#"{{"version":{VERSION},"log":"{log}","segment":{segment},"num":{entry_number}}}"#)
    }

    /// Parses a message body.
    ///
    /// # Errors
    /// Returns a [`SnapshotJobError`] if the body is not the JSON of a snapshot job, is too long,
    /// or has a newer version.
    pub fn decode(body: &str) -> Result<Self, SnapshotJobError> {
        if body.len() > MAX_SNAPSHOT_JOB_BYTES {
            return Err(SnapshotJobError::TooLong { bytes: body.len() });
        }
        let Versioned { version } =
            serde_json::from_str(body).map_err(|error| malformed_json(&error))?;
        match version {
            0 => Err(SnapshotJobError::Malformed { why: "versions begin at 1".to_owned() }),
            VERSION => Self::decode_version_1(body),
            later_version => Err(SnapshotJobError::LaterVersion { version: later_version }),
        }
    }

    fn decode_version_1(body: &str) -> Result<Self, SnapshotJobError> {
        let Version1 { log, segment, num: entry_number, .. } =
            serde_json::from_str(body).map_err(|error| malformed_json(&error))?;
        let position = Position::new(segment, entry_number)
            .map_err(|_| SnapshotJobError::Segment { segment })?;
        Ok(Self { log, position })
    }
}

fn malformed_json(error: &serde_json::Error) -> SnapshotJobError {
    SnapshotJobError::Malformed { why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn log() -> LogId {
        LogId::from_uuid(uuid::Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef))
    }

    #[test]
    fn the_released_body_does_not_change() {
        let job = SnapshotJob { log: log(), position: Position::new(7, 1_000).unwrap() };
        let body =
            r#"{"version":1,"log":"01234567-89ab-cdef-0123-456789abcdef","segment":7,"num":1000}"#;
        assert_eq!(job.encode(), body);
        assert_eq!(SnapshotJob::decode(body), Ok(job));
    }

    #[test]
    fn rejects_later_versions_bad_segments_and_malformed_bodies() {
        let body = SnapshotJob { log: log(), position: Position::FIRST }.encode();
        let later = body.replace("\"version\":1", "\"version\":2,\"more\":true");
        assert_eq!(SnapshotJob::decode(&later), Err(SnapshotJobError::LaterVersion { version: 2 }));
        let far = body.replace("\"segment\":0", &format!("\"segment\":{MAX_SEGMENTS}"));
        let error = SnapshotJobError::Segment { segment: MAX_SEGMENTS };
        assert_eq!(SnapshotJob::decode(&far), Err(error));
        for broken in [
            body.replace("\"num\":0", "\"num\":-1"),
            body.replace("\"num\":0", "\"num\":0,\"more\":1"),
            body.replace("\"num\":0", "\"nim\":0"),
            body.replace("0123", "xyz0"),
            body.replace("\"version\":1", "\"version\":0"),
            format!("{body}{body}"),
            String::new(),
            "[]".to_owned(),
        ] {
            let error = SnapshotJob::decode(&broken).unwrap_err();
            assert!(matches!(error, SnapshotJobError::Malformed { .. }), "{broken}: {error}");
        }
    }

    #[test]
    fn the_length_ends_at_its_limit() {
        let body = SnapshotJob { log: log(), position: Position::FIRST }.encode();
        let padded = |bytes: usize| format!("{body}{}", " ".repeat(bytes - body.len()));
        assert!(SnapshotJob::decode(&padded(MAX_SNAPSHOT_JOB_BYTES)).is_ok());
        let bytes = MAX_SNAPSHOT_JOB_BYTES + 1;
        assert_eq!(SnapshotJob::decode(&padded(bytes)), Err(SnapshotJobError::TooLong { bytes }));
    }

    proptest! {
        #[test]
        fn every_job_reads_back(id: u128, segment in 0..MAX_SEGMENTS, num: u32) {
            let log = LogId::from_uuid(uuid::Uuid::from_u128(id));
            let job = SnapshotJob { log, position: Position::new(segment, num).unwrap() };
            prop_assert_eq!(SnapshotJob::decode(&job.encode()), Ok(job));
        }

        #[test]
        fn any_text_is_a_job_or_an_error(text: String) {
            let _ = SnapshotJob::decode(&text);
        }
    }
}
