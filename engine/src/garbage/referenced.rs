//! Finds the objects that the logs in a fork family need: all objects reachable from roots and
//! imports.

use std::collections::HashSet;
use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::limits::GARBAGE_READS_AT_ONCE;
use cellar_base::position::Position;
use cellar_log::entry::Content;
use cellar_snapshot::garbage::ReferencedObjects;
use cellar_snapshot::keys::parse_root_key;
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::references::References;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::{GarbageCollector, GarbageError};
use crate::logs::{EntryCursor, LogError};
use crate::ports::PortError;
use crate::snapshots::ObjectFault;

/// References in a log's own entries, excluding inherited entries.
struct OwnReferences {
    /// Position of the last entry.
    last: Position,
    roots: Vec<String>,
    imports: Vec<References>,
}

impl OwnReferences {
    fn starting_at(first: Position) -> Self {
        Self { last: first, roots: Vec::new(), imports: Vec::new() }
    }
}

fn log_error(log: LogId, why: LogError) -> GarbageError {
    match why {
        LogError::Store(error) => GarbageError::Store(error),
        why => GarbageError::Log { log, why },
    }
}

/// An object that references other objects. The kind is part of its identity: objects with equal
/// bytes have the same name, but the bytes may be a text in one place and a tile in another.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Index(ChunkHash),
    Tile(ChunkHash),
}

/// Objects found so far.
#[derive(Default)]
struct FoundObjects {
    referenced: ReferencedObjects,
    visited: HashSet<Node>,
}

impl GarbageCollector {
    /// Returns all objects that the given logs need.
    pub(super) async fn find_referenced(
        &self,
        family: LogId,
        logs: impl Iterator<Item = LogId>,
    ) -> Result<ReferencedObjects, GarbageError> {
        let mut found = FoundObjects::default();
        for log in logs {
            let own = self.own_references(log).await?;
            for imported in own.imports {
                self.follow_references(family, imported, &mut found).await?;
            }
            for root in &own.roots {
                self.follow_root(family, root, &mut found).await?;
            }
        }
        Ok(found.referenced)
    }

    /// Returns the references in a log's own entries. Inherited entries belong to the log's source.
    /// A stale read can miss only entries that were just written; objects that only those entries
    /// reference are just as new.
    async fn own_references(&self, log: LogId) -> Result<OwnReferences, GarbageError> {
        let logs = &self.ports.logs;
        let first = logs.first_own(log).await.map_err(|why| log_error(log, why))?;
        let mut own = self.entry_references(log, first).await?;
        // The table retains the first entry of a trimmed segment. Its root may differ from the root
        // in the segment's offloaded copy.
        for segment in first.segment()..=own.last.segment() {
            let Ok(first_entry) = Position::new(segment, 0) else { break };
            own.roots
                .extend(logs.root_at(log, first_entry).await.map_err(|why| log_error(log, why))?);
        }
        Ok(own)
    }

    /// Returns the references in the entries from `first` on. Each entry is read from the table or
    /// from its segment's offloaded copy.
    async fn entry_references(
        &self,
        log: LogId,
        first: Position,
    ) -> Result<OwnReferences, GarbageError> {
        let (mut own, mut damaged) = (OwnReferences::starting_at(first), None);
        let mut cursor = EntryCursor::from(first);
        let logs = &self.ports.logs;
        let read = logs.visit_committed(log, &mut cursor, None, None, |entry, committed| {
            own.last = entry.position;
            if let Content::Snapshot { root: Some(root), .. } = &entry.content {
                own.roots.push(root.clone());
            }
            for operations in committed {
                match References::of_operations(operations) {
                    Ok(references) if references == References::default() => {}
                    Ok(references) => own.imports.push(references),
                    Err(why) => {
                        damaged = Some(why);
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            Ok(ControlFlow::Continue(()))
        });
        read.await.map_err(|why| log_error(log, why))?;
        match damaged {
            Some(why) => Err(GarbageError::Damaged { log, why }),
            None => Ok(own),
        }
    }

    async fn follow_root(
        &self,
        family: LogId,
        key: &str,
        found: &mut FoundObjects,
    ) -> Result<(), GarbageError> {
        let damaged = |why: String| ObjectFault::Damaged { key: key.to_owned(), why };
        let parsed = parse_root_key(key).map_err(|why| damaged(why.to_string()))?;
        if !found.referenced.add_root(parsed.hash) {
            return Ok(());
        }
        let root = self.read(|| self.store.root(key)).await?;
        let references = References::of_root(&root).map_err(|why| damaged(why.to_string()))?;
        self.follow_references(family, references, found).await
    }

    /// Adds the referenced objects and everything reachable from them.
    async fn follow_references(
        &self,
        family: LogId,
        references: References,
        found: &mut FoundObjects,
    ) -> Result<(), GarbageError> {
        let mut unvisited = found.add(references);
        while !unvisited.is_empty() {
            let reads = unvisited.into_iter().map(|node| self.read_references(family, node));
            let references: Vec<References> =
                stream::iter(reads).buffer_unordered(GARBAGE_READS_AT_ONCE).try_collect().await?;
            unvisited =
                references.into_iter().flat_map(|references| found.add(references)).collect();
        }
        Ok(())
    }

    async fn read_references(&self, family: LogId, node: Node) -> Result<References, GarbageError> {
        let stored = self.read(|| self.store.chunk(family, node.hash())).await?;
        let references = match node {
            Node::Index(hash) => References::of_index_chunk(hash, &stored),
            Node::Tile(hash) => References::of_tile(hash, &stored),
        };
        references.map_err(|why| GarbageError::Damaged { log: family, why })
    }

    /// Reads an object, retrying temporary failures.
    async fn read<T, F>(&self, read: impl Fn() -> F) -> Result<T, GarbageError>
    where
        F: Future<Output = Result<T, ObjectFault>>,
    {
        let outcome = self.retried(async || match read().await {
            Err(ObjectFault::Store(error)) => Err(error),
            outcome => Ok(outcome),
        });
        Ok(outcome.await.map_err(|error: PortError| GarbageError::Store(error))??)
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
    /// Adds the referenced objects. Returns the newly added objects that may reference further
    /// objects.
    fn add(&mut self, references: References) -> Vec<Node> {
        let References { index, tiles, leaves } = references;
        for leaf in leaves {
            self.referenced.add_chunk(leaf);
        }
        let nodes = index.into_iter().map(Node::Index).chain(tiles.into_iter().map(Node::Tile));
        let mut unvisited = Vec::new();
        for node in nodes {
            self.referenced.add_chunk(node.hash());
            if self.visited.insert(node) {
                unvisited.push(node);
            }
        }
        unvisited
    }
}
