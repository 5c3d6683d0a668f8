//! An SDK interceptor that counts requests. It counts every attempt of a request, because AWS bills
//! each of them.

use std::sync::Arc;

use aws_sdk_sqs::config::interceptors::BeforeTransmitInterceptorContextRef;
use aws_sdk_sqs::config::{ConfigBag, Intercept, RuntimeComponents};
use aws_sdk_sqs::error::BoxError;
use cellar_engine::meter::Meter;

#[derive(Debug)]
pub(super) struct CountRequests(pub(super) Arc<Meter>);

impl Intercept for CountRequests {
    fn name(&self) -> &'static str {
        "CountRequests"
    }

    fn read_before_transmit(
        &self,
        _context: &BeforeTransmitInterceptorContextRef<'_>,
        _components: &RuntimeComponents,
        _config: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        self.0.count_queue();
        Ok(())
    }
}
