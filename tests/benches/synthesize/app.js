// A stack equivalent to Cellar's, built with aws-cdk constructs, with which `synth` is compared.
const cdk = require('aws-cdk-lib');
const { aws_cloudwatch: cloudwatch, aws_dynamodb: dynamodb, aws_iam: iam } = cdk;
const { aws_lambda: lambda, aws_lambda_event_sources: sources, aws_logs: logs } = cdk;
const { aws_s3: s3, aws_sqs: sqs, Duration } = cdk;

const app = new cdk.App({ analyticsReporting: false });
const stack = new cdk.Stack(app, 'cellar', {
  synthesizer: new cdk.LegacyStackSynthesizer(),
});

const table = (id, stream) =>
  new dynamodb.Table(stack, id, {
    partitionKey: { name: 'S', type: dynamodb.AttributeType.BINARY },
    sortKey: { name: 'N', type: dynamodb.AttributeType.NUMBER },
    billingMode: dynamodb.BillingMode.PAY_PER_REQUEST,
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    deletionProtection: true,
    encryption: dynamodb.TableEncryption.DEFAULT,
    removalPolicy: cdk.RemovalPolicy.RETAIN,
    stream,
  });
const entries = table('EntryTable', dynamodb.StreamViewType.NEW_IMAGE);
const segments = table('SegmentTable');
const pending = table('PendingSnapshotsTable');

const bucket = new s3.Bucket(stack, 'Bucket', {
  blockPublicAccess: s3.BlockPublicAccess.BLOCK_ALL,
  enforceSSL: true,
  encryption: s3.BucketEncryption.S3_MANAGED,
  removalPolicy: cdk.RemovalPolicy.RETAIN,
  versioned: true,
  lifecycleRules: [
    { id: 'pending', tagFilters: { pending: 'true' }, expiration: Duration.days(3) },
    { id: 'noncurrent', noncurrentVersionExpiration: Duration.days(30) },
    { id: 'uploads', abortIncompleteMultipartUploadAfter: Duration.days(3) },
  ],
});

const queue = (id, more) =>
  new sqs.Queue(stack, id, {
    enforceSSL: true,
    encryption: sqs.QueueEncryption.SQS_MANAGED,
    retentionPeriod: Duration.days(14),
    ...more,
  });
const relayDeadLetters = queue('ChangeStreamDeadLetters');
const snapshotDeadLetters = queue('SnapshotDeadLetters');
const snapshots = queue('SnapshotQueue', {
  visibilityTimeout: Duration.minutes(30),
  deadLetterQueue: { queue: snapshotDeadLetters, maxReceiveCount: 5 },
});

const code = lambda.Code.fromBucket(
  s3.Bucket.fromBucketName(stack, 'Artifacts', 'artifacts'),
  'bundle.zip',
);
const lambdaFunction = (name, memorySize, timeout) =>
  new lambda.Function(stack, `${name}Function`, {
    architecture: lambda.Architecture.ARM_64,
    code,
    environment: { ENTRY_TABLE: entries.tableName, BUCKET: bucket.bucketName },
    handler: 'bootstrap',
    logGroup: new logs.LogGroup(stack, `${name}LogGroup`, {
      retention: logs.RetentionDays.ONE_MONTH,
      removalPolicy: cdk.RemovalPolicy.DESTROY,
    }),
    memorySize,
    runtime: lambda.Runtime.PROVIDED_AL2023,
    timeout,
    tracing: lambda.Tracing.ACTIVE,
  });
const api = lambdaFunction('Api', 512, Duration.seconds(29));
const relay = lambdaFunction('Relay', 256, Duration.seconds(60));
const snapshot = lambdaFunction('Snapshot', 1769, Duration.seconds(300));
const url = api.addFunctionUrl({ authType: lambda.FunctionUrlAuthType.NONE });

const allow = (to, actions, resources) =>
  to.addToRolePolicy(new iam.PolicyStatement({ actions, resources }));
const items = ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'];
allow(api, items, [entries.tableArn, segments.tableArn]);
allow(api, ['s3:GetObject', 's3:PutObject'], [bucket.arnForObjects('sheets/*')]);
allow(relay, ['s3:DeleteObjectTagging'], [bucket.arnForObjects('uploads/*')]);
allow(snapshot, items, [entries.tableArn, segments.tableArn, pending.tableArn]);
allow(snapshot, ['s3:GetObject', 's3:PutObject'], [bucket.arnForObjects('sheets/*')]);
snapshots.grantSendMessages(relay);
snapshots.grantSendMessages(snapshot);

relay.addEventSource(
  new sources.DynamoEventSource(entries, {
    batchSize: 100,
    bisectBatchOnError: true,
    filters: [lambda.FilterCriteria.filter({ eventName: lambda.FilterRule.isEqual('INSERT') })],
    onFailure: new sources.SqsDlq(relayDeadLetters),
    reportBatchItemFailures: true,
    retryAttempts: 10,
    startingPosition: lambda.StartingPosition.TRIM_HORIZON,
  }),
);
snapshot.addEventSource(
  new sources.SqsEventSource(snapshots, { batchSize: 1, reportBatchItemFailures: true }),
);

const alarm = (id, metric, threshold) =>
  new cloudwatch.Alarm(stack, `${id}Alarm`, {
    evaluationPeriods: 1,
    metric,
    threshold,
    treatMissingData: cloudwatch.TreatMissingData.NOT_BREACHING,
  });
alarm('ApiErrors', api.metricErrors(), 5);
alarm('ApiThrottles', api.metricThrottles(), 1);
alarm('ApiRequests', api.metricInvocations(), 30000);
alarm('EntryWriteUnits', entries.metricConsumedWriteCapacityUnits(), 60000);
alarm('RelayErrors', relay.metricErrors(), 1);
alarm('RelayIteratorAge', relay.metric('IteratorAge'), 600000);
alarm('ChangeStreamDeadLetters', relayDeadLetters.metricApproximateNumberOfMessagesVisible(), 1);
alarm('SnapshotErrors', snapshot.metricErrors(), 1);
alarm('SnapshotQueueAge', snapshots.metricApproximateAgeOfOldestMessage(), 21600);
alarm('SnapshotDeadLetters', snapshotDeadLetters.metricApproximateNumberOfMessagesVisible(), 1);

new cdk.CfnOutput(stack, 'ApiUrl', { value: url.url });
app.synth();
