//! Refused imports over HTTP: the problems, and no remaining objects.

use cellar_base::limits::MAX_CLIENT_ID_BYTES;
use cellar_snapshot::level::ChunkRef;
use cellar_snapshot::tile::{Tile, TileColumn, TileValue};
use serde_json::json;

use super::*;
use crate::imports::sheet::packed_tile;

async fn start() -> Importer {
    Importer::on(TestCloud::start_without_snapshots().await).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sheet_is_appended_only_when_all_of_it_is_there_and_checked() {
    let importer = start().await;
    let sheet = Written::new(200, &[3, 4], 2);
    let request =
        importer.request(1, importer.created.head, vec![sheet.operation(1, "Sheet", None)]);
    let append = async || refused(&importer, importer.post("entries", &request).await).await;
    let tiles = of_tiles(&sheet.tiles[..1]);
    let (kind, detail) = refused(&importer, importer.check(&tiles).await).await;
    assert_eq!(kind, ProblemKind::IncompleteImport);
    assert!(detail.contains("upload and check it"), "{detail}");
    importer.upload(&sheet.tiles).await;
    importer.upload(&sheet.texts).await;
    importer.upload(&sheet.chunks).await;
    let (kind, detail) = append().await;
    assert_eq!(kind, ProblemKind::IncompleteImport);
    assert!(detail.contains("was not checked"), "{detail}");
    assert_eq!(importer.head().await, importer.created.head);
    importer.prepare(&sheet).await;
    importer.append(&request).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_chunks_are_refused_and_never_published() {
    let importer = start().await;
    let mut column = TileColumn::new(0);
    column.values.push(0, TileValue::Number(1.0));
    let tile = packed_tile(&Tile { columns: vec![column] });
    let text = pack("a text".as_bytes(), Bounds::TEXT).unwrap();
    // Bytes of one object under the name of another: a grant allows them, a check refuses them.
    let wrong =
        PackedObject { chunk: ChunkRef { hash: ChunkHash([7; 32]), ..tile.chunk }, ..tile.clone() };
    importer.upload(&[tile.clone(), wrong.clone(), text.clone()]).await;
    for object in [&wrong, &text] {
        for request in [of_tiles(std::slice::from_ref(object)), of_index(object)] {
            let response = importer.check(&request).await;
            assert_eq!(refused(&importer, response).await.0, ProblemKind::InvalidImport);
            assert!(!importer.is_published(object).await);
        }
    }
    assert_eq!(importer.checked(&of_tiles(std::slice::from_ref(&tile))).await, 1);
    assert!(importer.is_published(&tile).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_is_of_what_was_granted_and_replaces_nothing() {
    let importer = start().await;
    let sheet = Written::new(5, &[0, 1], 100);
    let tile = &sheet.tiles[0];
    let grant = importer.grant(&sheet.tiles).await.remove(0);
    let mut other = tile.stored.clone();
    *other.last_mut().unwrap() ^= 1;
    assert!(importer.put(&grant, &other).await.is_client_error());
    // The required headers of objects that browsers read.
    for (name, value) in
        [("content-encoding", "gzip"), ("content-type", "text/html"), ("x-amz-tagging", "a=b")]
    {
        let mut changed = grant.clone();
        assert!(changed.headers.insert(name.to_owned(), value.to_owned()).is_some(), "{name}");
        assert!(importer.put(&changed, &tile.stored).await.is_client_error(), "{name}");
        changed.headers.remove(name);
        assert!(importer.put(&changed, &tile.stored).await.is_client_error(), "no {name}");
    }
    assert!(!importer.is_published(tile).await);
    assert_eq!(importer.put(&grant, &tile.stored).await, StatusCode::OK);
    assert_eq!(importer.put(&grant, &tile.stored).await, StatusCode::PRECONDITION_FAILED);
    importer.prepare(&sheet).await;
    let request =
        importer.request(1, importer.created.head, vec![sheet.operation(1, "Sheet", None)]);
    importer.append(&request).await;
    // A second grant for the same name, for wrong bytes.
    let wrong = PackedObject { chunk: tile.chunk, stored: b"wrong".to_vec() };
    let grant = importer.grant(std::slice::from_ref(&wrong)).await.remove(0);
    assert_eq!(importer.put(&grant, &wrong.stored).await, StatusCode::PRECONDITION_FAILED);
    let (blobs, _) = importer.cloud.blobs();
    let head = blobs.head(&importer.key(tile.chunk.hash)).await.unwrap().unwrap();
    assert_eq!(head.length, u64::from(tile.chunk.bytes));
    assert_eq!(head.content_encoding.as_deref(), Some("zstd"));
}

#[tokio::test(flavor = "multi_thread")]
async fn bad_requests_have_their_problems() {
    let importer = start().await;
    let hash = "ab".repeat(32);
    let chunk = json!({"hash": hash, "bytes": 9, "sha256": hash});
    let tile = json!({"hash": hash, "bytes": 9});
    let long = "c".repeat(MAX_CLIENT_ID_BYTES + 1);
    let most = MAX_IMPORT_OBJECTS;
    for (path, body, status) in [
        ("uploads", json!({"client_id": CLIENT, "chunks": vec![&chunk; most]}), 200),
        ("uploads", json!({"client_id": CLIENT, "chunks": vec![&chunk; most + 1]}), 413),
        ("uploads", json!({"client_id": CLIENT, "chunks": []}), 422),
        ("uploads", json!({}), 422),
        (
            "uploads",
            json!({"client_id": CLIENT, "chunks": [{"hash": hash, "bytes": 0, "sha256": hash}]}),
            422,
        ),
        (
            "uploads",
            json!({"client_id": CLIENT, "chunks": [{"hash": "x", "bytes": 9, "sha256": hash}]}),
            422,
        ),
        (
            "uploads",
            json!({"client_id": CLIENT, "chunks": [{"hash": hash, "bytes": 9, "sha256": "x"}]}),
            422,
        ),
        (
            "uploads",
            json!({"client_id": CLIENT, "chunks": [{"hash": hash, "bytes": 3 << 20, "sha256": hash}]}),
            422,
        ),
        ("checks", json!({}), 422),
        ("uploads", json!({"chunks": [&chunk]}), 422),
        ("uploads", json!({"client_id": long, "chunks": [&chunk]}), 422),
        ("checks", json!({"client_id": CLIENT}), 422),
        ("checks", json!({"client_id": CLIENT, "tiles": vec![&tile; most + 1]}), 413),
        ("checks", json!({"client_id": CLIENT, "tiles": [&tile]}), 422),
        ("checks", json!({"tiles": [&tile]}), 422),
        ("checks", json!({"client_id": "", "tiles": [&tile]}), 422),
        (
            "checks",
            json!({"client_id": CLIENT, "tile_index_chunk": {"hash": "../roots/x", "bytes": 9}}),
            422,
        ),
        ("checks", json!({"client_id": CLIENT, "tile_index_chunk": tile, "more": 1}), 422),
    ] {
        let response = importer.post(&format!("imports/{path}"), &body).await;
        assert_eq!(response.status().as_u16(), status, "{path} {body}");
    }
    let index = json!({"importSheet": {
        "sheet": 1, "name": "x", "extent": {"rows": 1, "columns": 1}, "cells": 1, "tile_index": "AAAA",
    }});
    let append = json!({
        "client_id": "c", "incarnation": importer.created.incarnation,
        "mutations": [{"id": 1, "base": 0, "op": index}],
    });
    assert_eq!(importer.post("entries", &append).await.status().as_u16(), 422);
    assert_eq!(importer.head().await, importer.created.head);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_may_write_there_imports() {
    let mut importer = start().await;
    let sheet = Written::new(2, &[0, 1], 100);
    let chunks = vec![new_chunk(sheet.tiles[0].chunk.hash, &sheet.tiles[0].stored)];
    let uploads = ImportUploadsRequest { client_id: CLIENT.to_owned(), chunks };
    let checks = of_index(&sheet.tiles[0]);
    let other = CreateRequest::new("other".to_owned());
    let other = importer.cloud.client("alice").create(&other).await.unwrap();
    let viewer = importer.cloud.token("alice", Role::Viewer);
    let elsewhere = importer.cloud.token_for("alice", Role::Editor, vec![other.id]);
    for (token, status) in [(viewer, 403), (elsewhere, 404), (String::new(), 401)] {
        importer.token = token;
        assert_eq!(importer.post("imports/uploads", &uploads).await.status().as_u16(), status);
        assert_eq!(importer.post("imports/checks", &checks).await.status().as_u16(), status);
    }
    importer.token = importer.cloud.token("alice", Role::Owner);
    importer.created.id = cellar_base::identity::LogId::from_uuid(uuid::Uuid::from_bytes([9; 16]));
    for response in [
        importer.post("imports/uploads", &uploads).await,
        importer.post("imports/checks", &checks).await,
    ] {
        assert_eq!(refused(&importer, response).await.0, ProblemKind::NotFound);
    }
}
