//! DynamoDB tables of the fake. Their changes take time, and meanwhile a table rejects other changes.

use std::collections::BTreeMap;

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::{Value, json};

/// Number of reads that show a change in progress.
const READS_PER_CHANGE: u32 = 2;

/// A table.
#[derive(Clone, Debug)]
pub(crate) struct FakeTable {
    status: &'static str,
    is_protected: bool,
    /// Maximum write units per second.
    write_limit: Option<i64>,
    /// Reads until the change in progress is complete.
    remaining_reads: u32,
}

/// The tables, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct FakeTables(pub(crate) BTreeMap<&'static str, FakeTable>);

impl FakeTable {
    /// Creates an active table with deletion protection.
    pub(crate) fn protected() -> Self {
        Self { status: "ACTIVE", is_protected: true, write_limit: None, remaining_reads: 0 }
    }

    /// Creates an active table with a write limit.
    pub(crate) fn limited(write_units_per_second: i64) -> Self {
        Self { write_limit: Some(write_units_per_second), ..Self::protected() }
    }

    pub(crate) fn write_limit(&self) -> Option<i64> {
        self.write_limit
    }

    /// Creates a table that a deployment is still changing.
    pub(crate) fn updating() -> Self {
        Self { status: "UPDATING", remaining_reads: READS_PER_CHANGE, ..Self::protected() }
    }
}

impl FakeTables {
    pub(super) fn answer(&mut self, action: &str, request: &Value) -> Response {
        let name = request["TableName"].as_str().unwrap();
        if action == "DescribeTable" {
            self.progress(name);
        }
        let Some(table) = self.0.get_mut(name) else {
            return refusal("ResourceNotFoundException", "Requested resource not found");
        };
        match (action, table.status) {
            ("DescribeTable", _) => {}
            ("DeleteTable", "DELETING") => {}
            (_, "UPDATING" | "DELETING") => {
                return refusal("ResourceInUseException", "Attempt to change a resource in use");
            }
            ("UpdateTable", _) => {
                if let Some(is_protected) = request["DeletionProtectionEnabled"].as_bool() {
                    table.is_protected = is_protected;
                }
                if let Some(limit) = request["OnDemandThroughput"]["MaxWriteRequestUnits"].as_i64()
                {
                    table.write_limit = (limit > 0).then_some(limit);
                }
                table.status = "UPDATING";
                table.remaining_reads = READS_PER_CHANGE;
            }
            ("DeleteTable", _) if table.is_protected => {
                return refusal(
                    "ValidationException",
                    "Resource cannot be deleted, as it is protected",
                );
            }
            ("DeleteTable", _) => {
                table.status = "DELETING";
                table.remaining_reads = READS_PER_CHANGE;
            }
            (other, _) => panic!("the fake does not support {other}"),
        }
        let mut description = json!({
            "TableName": name,
            "TableStatus": table.status,
            "DeletionProtectionEnabled": table.is_protected,
        });
        if let Some(limit) = table.write_limit {
            description["OnDemandThroughput"] = json!({ "MaxWriteRequestUnits": limit });
        }
        let member = if action == "DescribeTable" { "Table" } else { "TableDescription" };
        Response::new(Body::from(json!({ member: description }).to_string()))
    }

    /// Completes a change after enough reads.
    fn progress(&mut self, name: &str) {
        let Some(table) = self.0.get_mut(name) else { return };
        if table.remaining_reads > 0 {
            table.remaining_reads -= 1;
        } else if table.status == "DELETING" {
            self.0.remove(name);
        } else {
            table.status = "ACTIVE";
        }
    }
}

fn refusal(code: &str, message: &str) -> Response {
    let body =
        json!({ "__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": message });
    let reply = Response::builder().status(StatusCode::BAD_REQUEST);
    reply.body(Body::from(body.to_string())).unwrap()
}
