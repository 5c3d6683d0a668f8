//! Reports the cost of a request in the `cellar-cost` response header.

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use cellar_api::cost::HEADER;
use cellar_engine::meter;

const COST_HEADER: HeaderName = HeaderName::from_static(HEADER);

/// Middleware that adds the cost of a request to the response headers. The response body is
/// buffered first, so that the cost is final.
///
/// Responses with status 401 or 404 have no such header, because the cost would reveal whether a
/// spreadsheet exists. Looking up a spreadsheet costs one read, but a spreadsheet outside the
/// token's scope is never looked up.
pub(super) async fn report_cost(request: Request, next: Next) -> Response {
    let (mut response, cost) = meter::measure(next.run(request)).await;
    if matches!(response.status(), StatusCode::NOT_FOUND | StatusCode::UNAUTHORIZED) {
        return response;
    }
    match HeaderValue::try_from(cost.to_header()) {
        Ok(cost_value) => {
            response.headers_mut().insert(COST_HEADER, cost_value);
        }
        Err(error) => tracing::error!(%error, "a cost is not a valid header value"),
    }
    response
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use axum::Router;
    use axum::middleware::{from_fn, from_fn_with_state};
    use axum::routing::get;
    use cellar_api::cost::Cost;
    use cellar_engine::meter::Meter;
    use tower_http::catch_panic::CatchPanicLayer;

    use super::super::deadline::enforce_deadline;
    use super::super::state::ApiState;
    use super::*;
    use crate::dynamodb::client_for_endpoint;
    use crate::s3;
    use crate::settings::{ApiSettings, TokenSettings};

    /// Sends concurrent requests to all paths and returns the reported costs.
    async fn reported_costs(router: Router, paths: &[&str]) -> Vec<Option<Cost>> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        let requests: Vec<_> =
            paths.iter().map(|path| tokio::spawn(reqwest::get(format!("{url}{path}")))).collect();
        let mut costs = Vec::new();
        for request in requests {
            let response = request.await.unwrap().unwrap();
            let header = response.headers().get(HEADER);
            costs.push(header.map(|value| Cost::from_header(value.to_str().unwrap()).unwrap()));
        }
        costs
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn reports_the_cost_of_each_request() {
        let meter = Arc::new(Meter::default());
        let reading = |count: u32, then_panics: bool| {
            let meter = Arc::clone(&meter);
            move || async move {
                for _ in 0..count {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    meter.count(0.5, 0.0);
                }
                assert!(!then_panics, "intended");
            }
        };
        let router = Router::new()
            .route("/one", get(reading(1, false)))
            .route("/many", get(reading(20, false)))
            .route("/panic", get(reading(3, true)))
            .layer(CatchPanicLayer::new())
            .layer(from_fn(report_cost));
        let costs = reported_costs(router, &["/many", "/one", "/panic", "/nowhere", "/many"]).await;
        let halves: Vec<_> =
            costs.iter().map(|cost| cost.map(|cost| cost.read_half_units)).collect();
        assert_eq!(halves, [Some(20), Some(1), Some(3), None, Some(20)]);
        assert_eq!(costs.into_iter().flatten().sum::<Cost>(), meter.take());
    }

    #[tokio::test]
    async fn reports_the_cost_of_a_request_that_timed_out() {
        let settings = ApiSettings {
            upkeep: None,
            incarnation: 0,
            bucket: "b".to_owned(),
            entry_table: String::new(),
            segment_table: String::new(),
            event_stream_table: String::new(),
            feed_table: String::new(),
            stack: String::new(),
            request_timeout_ms: 20,
            tokens: TokenSettings::own("cellar", "cellar", vec![]),
        };
        let nowhere = "http://127.0.0.1:1";
        let s3 = s3::client_for_endpoint(nowhere, "key", "secret");
        let dynamodb = client_for_endpoint(nowhere, "key", "secret");
        let state = ApiState::new(&settings, dynamodb, s3).unwrap();
        let meter = Arc::clone(state.meter());
        let slow = || async move {
            meter.count(0.0, 2.0);
            std::future::pending::<()>().await;
        };
        let router = Router::new()
            .route("/slow", get(slow))
            .layer(from_fn_with_state(state, enforce_deadline))
            .layer(from_fn(report_cost));
        let expected = Cost { write_units: 2, table_requests: 1, ..Cost::default() };
        assert_eq!(reported_costs(router, &["/slow"]).await, [Some(expected)]);
    }
}
