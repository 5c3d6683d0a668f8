//! What of a family's objects its logs need: everything that can be reached from their roots and imports.

use std::collections::HashSet;
use std::ops::ControlFlow;

use cellar_base::identity::LogId;
use cellar_base::limits::GARBAGE_READS_AT_ONCE;
use cellar_base::position::Position;
use cellar_log::entry::Content;
use cellar_snapshot::garbage::InUse;
use cellar_snapshot::keys::parse_root_key;
use cellar_snapshot::level::ChunkHash;
use cellar_snapshot::named::{Named, Unfollowable};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use super::{Collector, GarbageError};
use crate::logs::{EntryCursor, LogError};
use crate::ports::PortError;
use crate::snapshots::ObjectFault;

/// What a log names itself.
struct OwnNames {
    /// The last of its entries.
    last: Position,
    roots: Vec<String>,
    imports: Vec<Named>,
}

impl OwnNames {
    fn from(first: Position) -> Self {
        Self { last: first, roots: Vec::new(), imports: Vec::new() }
    }
}

fn unread(log: LogId, why: LogError) -> GarbageError {
    match why {
        LogError::Store(error) => GarbageError::Store(error),
        why => GarbageError::Log { log, why },
    }
}

/// An object that names others. What is a text to one may be a tile to another: bytes have one name.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Branch {
    Index(ChunkHash),
    Tile(ChunkHash),
}

/// What was found so far.
#[derive(Default)]
struct Found {
    in_use: InUse,
    followed: HashSet<Branch>,
}

impl Collector {
    /// Everything that these logs need.
    pub(super) async fn in_use(
        &self,
        family: LogId,
        logs: impl Iterator<Item = LogId>,
    ) -> Result<InUse, GarbageError> {
        let mut found = Found::default();
        for log in logs {
            let own = self.own(log).await?;
            for imported in own.imports {
                self.follow(family, imported, &mut found).await?;
            }
            for root in &own.roots {
                self.follow_root(family, root, &mut found).await?;
            }
        }
        Ok(found.in_use)
    }

    /// What a log's own entries name; what it inherits is its source's. What a stale read does not show was
    /// written a moment ago: so was all that it names and no older root does.
    async fn own(&self, log: LogId) -> Result<OwnNames, GarbageError> {
        let logs = &self.ports.logs;
        let first = logs.first_own(log).await.map_err(|why| unread(log, why))?;
        let mut own = self.by_entries(log, first).await?;
        // A trimmed segment's first entry stays in the table, perhaps with another root than in its offloaded
        // copy.
        for segment in first.segment()..=own.last.segment() {
            let Ok(at) = Position::new(segment, 0) else { break };
            own.roots.extend(logs.root_at(log, at).await.map_err(|why| unread(log, why))?);
        }
        Ok(own)
    }

    /// What the entries from a position on name, each as it is read: in the table, or in an offloaded segment.
    async fn by_entries(&self, log: LogId, first: Position) -> Result<OwnNames, GarbageError> {
        let (mut own, mut damaged) = (OwnNames::from(first), None);
        let mut cursor = EntryCursor::from(first);
        let logs = &self.ports.logs;
        let read = logs.visit_committed(log, &mut cursor, None, None, |entry, committed| {
            own.last = entry.position;
            if let Content::Snapshot { root: Some(root), .. } = &entry.content {
                own.roots.push(root.clone());
            }
            for operations in committed {
                match Named::by_operations(operations) {
                    Ok(named) if named == Named::default() => {}
                    Ok(named) => own.imports.push(named),
                    Err(why) => {
                        damaged = Some(why);
                        return Ok(ControlFlow::Break(()));
                    }
                }
            }
            Ok(ControlFlow::Continue(()))
        });
        read.await.map_err(|why| unread(log, why))?;
        match damaged {
            Some(why) => Err(GarbageError::Damaged { log, why }),
            None => Ok(own),
        }
    }

    async fn follow_root(
        &self,
        family: LogId,
        key: &str,
        found: &mut Found,
    ) -> Result<(), GarbageError> {
        let unreadable = |why: String| ObjectFault::Damaged { key: key.to_owned(), why };
        let parsed = parse_root_key(key).map_err(|why| unreadable(why.to_string()))?;
        if !found.in_use.add_root(parsed.hash) {
            return Ok(());
        }
        let root = self.read(|| self.store.root(key)).await?;
        let named = Named::by_root(&root).map_err(|why| unreadable(why.to_string()))?;
        self.follow(family, named, found).await
    }

    /// Adds what is named, and all that can be reached from it.
    async fn follow(
        &self,
        family: LogId,
        named: Named,
        found: &mut Found,
    ) -> Result<(), GarbageError> {
        let mut layer = found.add(named);
        while !layer.is_empty() {
            let reads = layer.into_iter().map(|branch| self.names(family, branch));
            let below: Vec<Named> =
                stream::iter(reads).buffer_unordered(GARBAGE_READS_AT_ONCE).try_collect().await?;
            layer = below.into_iter().flat_map(|named| found.add(named)).collect();
        }
        Ok(())
    }

    async fn names(&self, family: LogId, branch: Branch) -> Result<Named, GarbageError> {
        let (Branch::Index(hash) | Branch::Tile(hash)) = branch;
        let stored = self.read(|| self.store.chunk(family, hash)).await?;
        let named = match branch {
            Branch::Index(hash) => Named::by_index(hash, &stored),
            Branch::Tile(hash) => Named::by_tile(hash, &stored),
        };
        named.map_err(|why: Unfollowable| GarbageError::Damaged { log: family, why })
    }

    /// Repeats a read while its failure may pass.
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

impl Found {
    /// Notes what is named; gives what names others in turn and was not followed before.
    fn add(&mut self, named: Named) -> Vec<Branch> {
        let index = named.index.into_iter().map(Branch::Index);
        let branches: Vec<Branch> =
            index.chain(named.tiles.into_iter().map(Branch::Tile)).collect();
        let hashes = branches.iter().map(|(Branch::Index(hash) | Branch::Tile(hash))| *hash);
        for hash in named.leaves.into_iter().chain(hashes) {
            self.in_use.add_chunk(hash);
        }
        branches.into_iter().filter(|branch| self.followed.insert(*branch)).collect()
    }
}
