//! Rules of the API function and its URL.

use cellar_api::environment;
use cellar_log::upkeep::LogPolicy;
use cellar_stacks::{Architecture, Config, Template, cellar_stack};
use serde_json::{Value, json};

use super::{Echo, resources_of, template_of, with_origins};

/// Maximum bytes of all environment variables of a function (Lambda).
const ENVIRONMENT_BYTES_MAX: usize = 4096;

#[test]
fn the_url_has_both_permissions() {
    let template = template_of(&Config::default());
    let url = &template.resource("ApiUrl").unwrap().properties;
    assert_eq!((&url["AuthType"], &url["InvokeMode"]), (&json!("NONE"), &json!("BUFFERED")));
    let permissions: Vec<_> = resources_of(&template, "AWS::Lambda::Permission")
        .map(|(_, resource)| Value::Object(resource.properties.clone()))
        .collect();
    let function = json!({"Fn::GetAtt": ["ApiFunction", "Arn"]});
    assert_eq!(
        permissions,
        [
            json!({
                "Action": "lambda:InvokeFunction",
                "FunctionName": function,
                "InvokedViaFunctionUrl": true,
                "Principal": "*"
            }),
            json!({
                "Action": "lambda:InvokeFunctionUrl",
                "FunctionName": function,
                "FunctionUrlAuthType": "NONE",
                "Principal": "*"
            }),
        ]
    );
}

#[test]
fn cors_names_the_page_and_configured_origins() {
    let plain = template_of(&Config::default());
    let cors = |template: &Template, id: &str, property: &str| {
        template.resource(id).unwrap().properties.get(property).cloned()
    };
    assert_eq!(cors(&plain, "ApiUrl", "Cors"), None);
    // The page that the API function serves uses the bucket too.
    let page = json!({"Fn::Sub": "https://*.lambda-url.${AWS::Region}.on.aws"});
    let bucket = cors(&plain, "Bucket", "CorsConfiguration").unwrap();
    assert_eq!(bucket["CorsRules"][0]["AllowedOrigins"], json!([page]));
    assert_eq!(bucket["CorsRules"][0]["AllowedMethods"], json!(["GET", "HEAD", "PUT"]));
    let open = template_of(&with_origins());
    let api = cors(&open, "ApiUrl", "Cors").unwrap();
    assert_eq!(api["AllowOrigins"], json!(["https://a.example"]));
    // Lambda rejects methods of more than six letters.
    let methods = api["AllowMethods"].as_array().unwrap();
    assert!(methods.iter().all(|method| method.as_str().unwrap().len() <= 6));
    let bucket = cors(&open, "Bucket", "CorsConfiguration").unwrap();
    assert_eq!(bucket["CorsRules"][0]["AllowedOrigins"], json!([page, "https://a.example"]));
    // All signed headers of an upload, except those that a browser sends by itself.
    let allowed = bucket["CorsRules"][0]["AllowedHeaders"].as_array().unwrap();
    for signed in [
        "content-encoding",
        "content-type",
        "if-none-match",
        "x-amz-checksum-sha256",
        "x-amz-tagging",
    ] {
        assert!(allowed.contains(&json!(signed)), "{signed}");
    }
}

#[test]
fn the_configuration_reaches_the_function() {
    let text = "api: {memory_mb: 2048, timeout: 12s}\nlog_retention: 5d\n";
    let config = Config::parse(text, "cellar.yaml").unwrap();
    let template = cellar_stack(&config, Architecture::Arm64).unwrap();
    let function = &template.resource("ApiFunction").unwrap().properties;
    assert_eq!(function["Architectures"], json!(["arm64"]));
    assert_eq!((&function["MemorySize"], &function["Timeout"]), (&json!(2048), &json!(12)));
    assert_eq!(function["LoggingConfig"]["LogGroup"], json!({"Ref": "ApiLogGroup"}));
    assert_eq!(template.resource("ApiLogGroup").unwrap().properties["RetentionInDays"], 5);
}

#[test]
fn the_environment_is_what_the_runtime_reads() {
    let template = template_of(&Config::default());
    let function = template.resolved_properties("ApiFunction", &Echo).unwrap().unwrap();
    assert_eq!(
        function["Environment"]["Variables"],
        json!({
            environment::FUNCTION: environment::FUNCTION_API,
            environment::ENTRY_TABLE: "<EntryTable>",
            environment::SEGMENT_TABLE: "<SegmentTable>",
            environment::EVENT_STREAM_TABLE: "<EventStreamTable>",
            environment::FEED_TABLE: "<FeedTable>",
            environment::UPKEEP: serde_json::json!(LogPolicy::default()).to_string(),
            environment::BUCKET: "<Bucket>",
            environment::STACK: "<AWS::StackName>",
            environment::REQUEST_TIMEOUT_MS: "28000",
            environment::TOKEN_ISSUER: "cellar",
            environment::TOKEN_AUDIENCE: "cellar",
            environment::TOKEN_KEYS: "[]",
        })
    );
    assert_eq!(function["Code"], json!({"S3Bucket": "<ArtifactBucket>", "S3Key": "<ArtifactKey>"}));
}

#[test]
fn the_largest_configuration_fits_into_lambdas_environment() {
    let mut config = Config::default();
    let issuer = |number: usize| {
        let url = format!("https://{number}.{}", "i".repeat(190));
        serde_json::from_value(json!({"issuer": url, "audience": "a".repeat(200)})).unwrap()
    };
    config.tokens.oidc = (0..4).map(issuer).collect();
    let largest = |letters: &usize| {
        let config = &mut config.clone();
        config.tokens.issuer = "c".repeat(*letters);
        config.problems().is_empty()
    };
    let letters = (1..=255).take_while(largest).count();
    config.tokens.issuer = "c".repeat(letters);
    config.tokens.not_before_s = Some(253_402_300_799);
    config.incarnation = 9_999;
    // Names of resources have at most 255 characters, names of stacks at most 128.
    let names = 5 * 255 + 128;
    let template = template_of(&config);
    let function = template.resolved_properties("ApiFunction", &Echo).unwrap().unwrap();
    let variables = function["Environment"]["Variables"].as_object().unwrap();
    let bytes: usize =
        variables.iter().map(|(name, value)| name.len() + value.as_str().unwrap().len()).sum();
    assert!(bytes + names <= ENVIRONMENT_BYTES_MAX, "{bytes}");
}
