//! Finds all objects that are reachable from the snapshot roots and imports of a fork family's
//! logs.

use std::collections::HashSet;
use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::limits::GARBAGE_READS_AT_ONCE;
use cellar_base::position::Position;
use cellar_log::entry::{Content, Entry};
use cellar_sheet::operation::Operation;
use cellar_snapshot::SnapshotError;
use cellar_snapshot::garbage::ReferencedObjects;
use cellar_snapshot::keys::parse_root_key;
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::references::References;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::{GarbageCollector, GarbageError};
use crate::logs::{EntryCursor, LogError, ReadUntil};
use crate::ports::PortError;
use crate::snapshots::ObjectFault;

/// Entries inherited from a source are not included.
struct LogReferences {
    last_position: Position,
    root_keys: Vec<String>,
    imports: Vec<References>,
}

impl LogReferences {
    fn starting_at(first: Position) -> Self {
        Self { last_position: first, root_keys: Vec::new(), imports: Vec::new() }
    }

    fn add_entry(
        &mut self,
        entry: &Entry,
        operations_by_mutation: &[&[Operation]],
    ) -> Result<(), SnapshotError> {
        self.last_position = entry.position;
        if let Content::Snapshot { root: Some(root_key), .. } = &entry.content {
            self.root_keys.push(root_key.clone());
        }
        for operations in operations_by_mutation {
            let references = References::of_operations(operations)?;
            if references != References::default() {
                self.imports.push(references);
            }
        }
        Ok(())
    }
}

fn to_garbage_error(log: LogId, error: LogError) -> GarbageError {
    match error {
        LogError::Store(port_error) => GarbageError::Store(port_error),
        log_error => GarbageError::Log { log, why: log_error },
    }
}

/// An object is identified by its kind and name. The name alone is not sufficient, since it is a
/// hash of the bytes: A text and a tile with equal bytes have the same name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Index(ChunkHash),
    Tile(ChunkHash),
}

#[derive(Default)]
struct FoundObjects {
    referenced: ReferencedObjects,
    visited: HashSet<Node>,
}

impl GarbageCollector {
    pub(super) async fn find_referenced(
        &self,
        family: LogId,
        log_ids: impl Iterator<Item = LogId>,
    ) -> Result<ReferencedObjects, GarbageError> {
        let mut found_objects = FoundObjects::default();
        for log in log_ids {
            let log_references = self.read_log_references(log).await?;
            for import_references in log_references.imports {
                self.follow_references(family, import_references, &mut found_objects).await?;
            }
            for root_key in &log_references.root_keys {
                self.follow_root(family, root_key, &mut found_objects).await?;
            }
        }
        Ok(found_objects.referenced)
    }

    /// An eventually consistent read may miss entries that were just written. This is safe, since
    /// objects that only those entries reference are too young to be deleted.
    async fn read_log_references(&self, log: LogId) -> Result<LogReferences, GarbageError> {
        let logs = &self.ports.logs;
        let first_own_position =
            logs.first_own_position(log).await.map_err(|error| to_garbage_error(log, error))?;
        let mut references = self.read_entry_references(log, first_own_position).await?;
        // The first entry of a trimmed segment stays in the table. Its snapshot root may differ
        // from the root in the offloaded copy of the segment.
        for segment in first_own_position.segment()..=references.last_position.segment() {
            let Ok(first_position) = Position::new(segment, 0) else { break };
            let root_key = logs.root_at(log, first_position).await;
            references.root_keys.extend(root_key.map_err(|error| to_garbage_error(log, error))?);
        }
        Ok(references)
    }

    /// Entries of a trimmed segment are read from its offloaded copy.
    async fn read_entry_references(
        &self,
        log: LogId,
        first: Position,
    ) -> Result<LogReferences, GarbageError> {
        let mut references = LogReferences::starting_at(first);
        let mut damaged_import = None;
        let mut cursor = EntryCursor::from(first);
        let logs = &self.ports.logs;
        let until = ReadUntil::Newest { min_position: None };
        let visit_entries =
            logs.visit_committed(log, &mut cursor, until, |entry, operations_by_mutation| {
                if let Err(error) = references.add_entry(entry, operations_by_mutation) {
                    damaged_import = Some(error);
                    return Ok(ControlFlow::Break(()));
                }
                Ok(ControlFlow::Continue(()))
            });
        visit_entries.await.map_err(|error| to_garbage_error(log, error))?;
        match damaged_import {
            Some(why) => Err(GarbageError::Damaged { log, why }),
            None => Ok(references),
        }
    }

    /// Adds a snapshot root and everything that is reachable from it, unless the root was already
    /// added.
    async fn follow_root(
        &self,
        family: LogId,
        root_key: &str,
        found_objects: &mut FoundObjects,
    ) -> Result<(), GarbageError> {
        let damaged =
            |reason: String| ObjectFault::Damaged { key: root_key.to_owned(), why: reason };
        let parsed_key = parse_root_key(root_key).map_err(|error| damaged(error.to_string()))?;
        let is_new_root = found_objects.referenced.add_root(parsed_key.hash);
        if !is_new_root {
            return Ok(());
        }
        let root = self.read_with_retries(|| self.store.root(root_key)).await?;
        let references = References::of_root(&root).map_err(|error| damaged(error.to_string()))?;
        self.follow_references(family, references, found_objects).await
    }

    async fn follow_references(
        &self,
        family: LogId,
        references: References,
        found_objects: &mut FoundObjects,
    ) -> Result<(), GarbageError> {
        let mut unvisited = found_objects.add(references);
        while !unvisited.is_empty() {
            let reads = unvisited.into_iter().map(|node| self.read_references(family, node));
            let references_of_nodes: Vec<References> =
                stream::iter(reads).buffer_unordered(GARBAGE_READS_AT_ONCE).try_collect().await?;
            unvisited = Vec::new();
            for references in references_of_nodes {
                unvisited.extend(found_objects.add(references));
            }
        }
        Ok(())
    }

    async fn read_references(&self, family: LogId, node: Node) -> Result<References, GarbageError> {
        let stored = self.read_with_retries(|| self.store.chunk(family, node.hash())).await?;
        let references = match node {
            Node::Index(hash) => References::of_index_chunk(hash, &stored),
            Node::Tile(hash) => References::of_tile(hash, &stored),
        };
        references.map_err(|why| GarbageError::Damaged { log: family, why })
    }

    async fn read_with_retries<T, F>(&self, read: impl Fn() -> F) -> Result<T, GarbageError>
    where
        F: Future<Output = Result<T, ObjectFault>>,
    {
        // Return damaged objects as the inner error, since a retry would not help.
        let read_result: Result<Result<T, ObjectFault>, PortError> = self
            .retried(async || match read().await {
                Err(ObjectFault::Store(error)) => Err(error),
                object_or_fault => Ok(object_or_fault),
            })
            .await;
        Ok(read_result??)
    }
}

impl Node {
    fn hash(self) -> ChunkHash {
        match self {
            Self::Index(hash) | Self::Tile(hash) => hash,
        }
    }
}

impl FoundObjects {
    /// Returns the objects that were not known before and may themselves contain references.
    fn add(&mut self, references: References) -> Vec<Node> {
        let References { index, tiles, leaves } = references;
        for leaf in leaves {
            self.referenced.add_chunk(leaf);
        }
        let index_nodes = index.into_iter().map(Node::Index);
        let tile_nodes = tiles.into_iter().map(Node::Tile);
        let mut unvisited = Vec::new();
        for node in index_nodes.chain(tile_nodes) {
            self.referenced.add_chunk(node.hash());
            let is_new_node = self.visited.insert(node);
            if is_new_node {
                unvisited.push(node);
            }
        }
        unvisited
    }
}
