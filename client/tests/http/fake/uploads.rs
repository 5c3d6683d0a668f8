//! Uploads: grants, the bucket, and completions.

use super::*;

impl Inner {
    pub(super) fn grant(&mut self, request: &UploadRequest) -> UploadReply {
        let upload = Uuid::new_v4();
        self.objects.insert(upload, None);
        let headers = [
            ("content-length".to_owned(), request.bytes.to_string()),
            ("x-checksum".to_owned(), request.sha256.clone()),
        ];
        UploadReply {
            upload_id: upload,
            method: "PUT".into(),
            url: format!("{}/bucket/{upload}?signature=secret", self.url),
            headers: headers.into_iter().collect(),
            expires_s: 1_700_000_900,
        }
    }

    /// Stores a granted object once, or returns a stored object.
    pub(super) fn bucket(
        &mut self,
        method: &Method,
        key: &str,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Response {
        assert!(!headers.contains_key("authorization"), "the token went to the bucket");
        let answer = |status: u16, text: &'static str| {
            (StatusCode::from_u16(status).unwrap(), text).into_response()
        };
        let object = key.parse().ok().and_then(|key: Uuid| self.objects.get_mut(&key));
        match (method.as_str(), object) {
            ("PUT", Some(Some(_))) => answer(412, "<Code>PreconditionFailed</Code>"),
            ("PUT", Some(object)) => {
                let sha256 = cellar_api::wire::hexadecimal(&sha2::Sha256::digest(body));
                assert_eq!(headers["x-checksum"].to_str().unwrap(), sha256);
                assert_eq!(headers["content-length"], body.len().to_string());
                *object = Some(body.to_vec());
                answer(200, "")
            }
            ("GET", Some(Some(object))) => object.clone().into_response(),
            _ => answer(404, "<Code>NoSuchKey</Code>"),
        }
    }

    pub(super) fn complete(
        &mut self,
        id: LogId,
        upload: &str,
        request: &CompleteRequest,
    ) -> Result<AppendReply, Problem> {
        let absent = || Problem::new(ProblemKind::InvalidUpload, "ask for a new upload");
        let upload: Uuid = upload.parse().unwrap();
        let object = self.objects.get(&upload).cloned().flatten().ok_or_else(absent)?;
        let op = decode_external_body(&object).unwrap().remove(0);
        let (client, incarnation, ack) =
            (request.client_id.clone(), request.incarnation, request.acked_id);
        let mutations = vec![SentMutation { id: request.first_id, base: request.base, op }];
        let client = self.check(
            id,
            &AppendRequest {
                client_id: client,
                incarnation,
                acked_id: ack,
                refuse_unchanged: false,
                mutations,
            },
        )?;
        let last = self.last_id(id, client).max(ack);
        let result = if request.first_id <= last {
            self.duplicate(id, client, request.first_id)
        } else {
            let external = ExternalEdits {
                client,
                first_id: request.first_id,
                count: 1,
                base: request.base,
                object: upload.to_string(),
                bytes: request.bytes,
                sha256: parse_sha256(&request.sha256).unwrap(),
                map: SpaceMap::default(),
            };
            let position = self.push(id, Content::External(external));
            AppendedMutation {
                id: request.first_id,
                status: MutationStatus::Appended,
                position: Some(position),
                rejection: None,
                committed: None,
                no_effect: false,
                reversal: None,
            }
        };
        let head = self.head(id).head;
        Ok(AppendReply {
            client_key: None,
            results: vec![result],
            head,
            entries: Vec::new(),
            next: None,
        })
    }
}
