//! A member, who acts as a client of the API.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use cellar_base::identity::{ClientKey, LogId};
use cellar_base::position::Position;
use cellar_engine::contract::UrlRequest;
use cellar_engine::logs::{ChunkToUpload, LogError};
use cellar_engine::ports::{PresignedRequest, Random as _};
use cellar_engine::sha256::sha256;
use cellar_log::append::{Appended, NewMutation, Request};
use cellar_sheet::operation::{Operation, SheetId};
use cellar_sheet::workbook::CellAt;
use cellar_snapshot::level::ChunkRef;
use cellar_snapshot::packed::PackedObject;

use crate::editor::is_temporary;
use crate::fleet::{Server, append};
use crate::process::{Mortality, Process};
use crate::random::SimRandom;
use crate::reading;
use crate::simulation::Simulation;

/// Maximum wait between two attempts, in milliseconds.
const MAX_RETRY_MS: u64 = 2_000;

/// A client with access to one log.
pub(super) struct Member {
    pub(super) simulation: Arc<Simulation>,
    pub(super) process: Process,
    pub(super) log: LogId,
}

impl Member {
    pub(super) fn new(simulation: &Arc<Simulation>, name: &str, log: LogId) -> Self {
        let process = Process::new(&simulation.world, name, Mortality::Spared);
        Self { simulation: Arc::clone(simulation), process, log }
    }

    pub(super) fn random(&self) -> &SimRandom {
        self.process.random()
    }

    /// Returns a client key that no other member uses.
    pub(super) fn another_client(&self) -> ClientKey {
        ClientKey(self.random().next().to_be_bytes())
    }

    pub(super) async fn think(&self, max_ms: u64) {
        self.simulation.world.sleep_ms(self.random().draw_in(0..=max_ms)).await;
    }

    /// Sends a request once. Returns `None` if no response arrives.
    pub(super) async fn ask<T, F>(
        &self,
        description: &str,
        request: impl FnOnce(Server) -> F,
    ) -> Option<Result<T, LogError>>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, LogError>> + Send + 'static,
    {
        self.simulation.fleet.ask(&self.process, description.to_owned(), request).await
    }

    /// Retries a request until the response is not a temporary error.
    pub(super) async fn retry_until_final<T, F>(
        &self,
        description: &str,
        request: impl Fn(Server) -> F,
    ) -> Result<T, LogError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, LogError>> + Send + 'static,
    {
        loop {
            match self.ask(description, &request).await {
                Some(Err(error)) if is_temporary(&error) => {}
                Some(answer) => return answer,
                None => {}
            }
            self.think(MAX_RETRY_MS).await;
        }
    }

    /// Requests an upload URL for an object and uploads the object. Returns whether the object
    /// exists now.
    pub(super) async fn upload(
        &self,
        client: ClientKey,
        object: &PackedObject,
    ) -> Result<bool, LogError> {
        let log = self.log;
        let chunk = ChunkToUpload { chunk: object.chunk, sha256: sha256(&object.stored) };
        let grant_upload = move |server: Server| async move {
            server.logs.grant_chunks(log, client, &[chunk]).await
        };
        let grants = self.retry_until_final("a grant to upload a chunk", grant_upload).await?;
        let Some(PresignedRequest { method, url, headers, .. }) = grants.into_iter().next() else {
            return Ok(false);
        };
        let body = Bytes::copy_from_slice(&object.stored);
        let request = UrlRequest { method, url, headers, body };
        let process = self.process.clone();
        let effect = async move { process.world().blobs.send(&request) };
        let reply = self.process.call_bucket("upload a chunk".to_owned(), effect).await;
        // Status 412 means that an earlier attempt has stored the object.
        let is_stored = reply.is_ok_and(|reply| matches!(reply.status, 200 | 412));
        Ok(is_stored)
    }

    pub(super) async fn check(
        &self,
        client: ClientKey,
        tiles: Vec<ChunkRef>,
        index: Option<ChunkRef>,
    ) -> Result<u32, LogError> {
        let log = self.log;
        let check_chunks = move |server: Server| {
            let tiles = tiles.clone();
            async move { server.logs.publish_chunks(log, client, &tiles, index.as_ref()).await }
        };
        self.retry_until_final("a check of chunks", check_chunks).await
    }

    /// Returns the newest position, and the number that a new sheet would get at that position.
    pub(super) async fn read_position_and_new_sheet(
        &self,
    ) -> Result<(Position, SheetId), LogError> {
        let log = self.log;
        let read_view = move |server: Server| async move {
            let view = server.logs.open_view(log, None, None).await?;
            Ok((view.position, view.metadata.tabs.next_sheet()))
        };
        self.retry_until_final("a look", read_view).await
    }

    /// Returns a request that contains the client's first mutation.
    pub(super) fn build_request(
        &self,
        client: ClientKey,
        base: Position,
        operation: Operation,
    ) -> Option<Request> {
        let mutations = vec![NewMutation { id: 1, base, operation }];
        Request::new(self.log, client, None, 0, 0, mutations).ok()
    }

    pub(super) async fn append(&self, request: &Request) -> Result<Appended, LogError> {
        self.retry_until_final("append", |server| append(server, request.clone())).await
    }

    /// Reads all cells of a sheet through one of the API's processes.
    pub(super) async fn cells(
        &self,
        position: Position,
        sheet: SheetId,
    ) -> Result<Vec<CellAt>, LogError> {
        let log = self.log;
        let read_cells = move |server: Server| async move {
            reading::cells(&server.logs, log, position, sheet).await
        };
        self.retry_until_final("read a sheet", read_cells).await
    }

    pub(super) fn report_violation(&self, fault: &str, reason: &dyn std::fmt::Display) {
        let name = self.process.name();
        self.simulation.world.report_violation(format_args!("{name} {fault}: {reason}"));
    }
}
