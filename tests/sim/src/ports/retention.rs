//! The table operations that operator commands use.

use std::sync::Arc;

use async_trait::async_trait;
use cellar_base::identity::LogId;
use cellar_base::position::Position;
use cellar_engine::ports::{PortError, Retention, ScanKey, SegmentPage};

use crate::process::Process;

#[async_trait]
impl Retention for Process {
    async fn all_segments(&self, after: Option<ScanKey>) -> Result<SegmentPage, PortError> {
        let world = Arc::clone(self.world());
        let effect = async move { world.tables.all_segments(after).await };
        self.call("scan segments".to_owned(), effect).await.and_then(|page| page)
    }

    async fn set_offloaded(&self, log: LogId, segment: u32, key: &str) -> Result<(), PortError> {
        let (world, key) = (Arc::clone(self.world()), key.to_owned());
        let effect = async move {
            world.tables.set_offloaded(log, segment, &key).await?;
            world.segment_changed(log, segment).await;
            Ok(())
        };
        self.call(format!("set offload of {segment}"), effect).await.and_then(|set| set)
    }

    async fn mark_trimmed(
        &self,
        log: LogId,
        segment: u32,
        trimmed_s: u64,
    ) -> Result<(), PortError> {
        let world = Arc::clone(self.world());
        let effect = async move {
            world.tables.mark_trimmed(log, segment, trimmed_s).await?;
            let first = Position::new(segment, 0).unwrap_or(Position::FIRST);
            world.entry_changed(log, first, false).await;
            Ok(())
        };
        self.call(format!("mark {segment} trimmed"), effect).await.and_then(|marked| marked)
    }

    async fn delete(&self, log: LogId, positions: &[Position]) -> Result<(), PortError> {
        let (world, gone) = (Arc::clone(self.world()), positions.to_vec());
        let effect = async move {
            // The table deletes 25 entries per request, so some entries may already be deleted when
            // another request fails.
            world.tables.delete(log, &gone).await?;
            for position in gone {
                world.entry_changed(log, position, false).await;
            }
            Ok(())
        };
        let what = format!("delete {} entries", positions.len());
        self.call(what, effect).await.and_then(|deleted| deleted)
    }

    async fn delete_segment(&self, log: LogId, segment: u32) -> Result<(), PortError> {
        let world = Arc::clone(self.world());
        let effect = async move {
            world.tables.delete_segment(log, segment).await?;
            world.segment_changed(log, segment).await;
            Ok(())
        };
        self.call(format!("delete segment {segment}"), effect).await.and_then(|deleted| deleted)
    }

    async fn delete_listed(&self, source: LogId, number: u64) -> Result<(), PortError> {
        let world = Arc::clone(self.world());
        let effect = async move {
            world.tables.delete_listed(source, number).await?;
            world.fork_gone(source, number);
            Ok(())
        };
        let what = format!("delete fork {number} of {source}");
        self.call(what, effect).await.and_then(|deleted| deleted)
    }
}
