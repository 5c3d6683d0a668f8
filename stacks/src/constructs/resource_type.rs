//! The CloudFormation resource types that have a construct in this crate, and the attributes that
//! `Fn::GetAtt` can read from them.

use std::fmt;

/// A CloudFormation resource type that has a construct in this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResourceType {
    Alarm,
    Dashboard,
    Table,
    Role,
    EventSourceMapping,
    Function,
    Permission,
    FunctionUrl,
    LogGroup,
    Bucket,
    BucketPolicy,
    Queue,
    Topic,
    QueuePolicy,
}

impl ResourceType {
    pub const ALL: [Self; 14] = [
        Self::Alarm,
        Self::Dashboard,
        Self::Table,
        Self::Role,
        Self::EventSourceMapping,
        Self::Function,
        Self::Permission,
        Self::FunctionUrl,
        Self::LogGroup,
        Self::Bucket,
        Self::BucketPolicy,
        Self::Queue,
        Self::QueuePolicy,
        Self::Topic,
    ];

    /// Returns the name of the resource type in templates, such as `AWS::SQS::Queue`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alarm => "AWS::CloudWatch::Alarm",
            Self::Dashboard => "AWS::CloudWatch::Dashboard",
            Self::Table => "AWS::DynamoDB::Table",
            Self::Role => "AWS::IAM::Role",
            Self::EventSourceMapping => "AWS::Lambda::EventSourceMapping",
            Self::Function => "AWS::Lambda::Function",
            Self::Permission => "AWS::Lambda::Permission",
            Self::FunctionUrl => "AWS::Lambda::Url",
            Self::LogGroup => "AWS::Logs::LogGroup",
            Self::Bucket => "AWS::S3::Bucket",
            Self::BucketPolicy => "AWS::S3::BucketPolicy",
            Self::Queue => "AWS::SQS::Queue",
            Self::QueuePolicy => "AWS::SQS::QueuePolicy",
            Self::Topic => "AWS::SNS::Topic",
        }
    }

    /// Returns the resource type with this name in templates, or `None` if this crate has no
    /// construct for it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|resource_type| resource_type.name() == name)
    }

    /// Returns the names of the attributes that `Fn::GetAtt` supports.
    pub const fn attributes(self) -> &'static [&'static str] {
        match self {
            Self::Table => &["Arn", "StreamArn"],
            Self::Role => &["Arn", "RoleId"],
            Self::Alarm | Self::Function | Self::LogGroup => &["Arn"],
            Self::EventSourceMapping => &["EventSourceMappingArn", "Id"],
            Self::Queue => &["Arn", "QueueName", "QueueUrl"],
            Self::FunctionUrl => &["FunctionArn", "FunctionUrl"],
            Self::Bucket => {
                &["Arn", "DomainName", "DualStackDomainName", "RegionalDomainName", "WebsiteURL"]
            }
            Self::Topic => &["TopicArn", "TopicName"],
            Self::BucketPolicy | Self::Dashboard | Self::Permission | Self::QueuePolicy => &[],
        }
    }

    /// Returns whether the resource type has a `Tags` property that is a list of keys and values.
    pub const fn is_taggable(self) -> bool {
        match self {
            Self::Alarm
            | Self::Bucket
            | Self::Dashboard
            | Self::EventSourceMapping
            | Self::Function
            | Self::LogGroup
            | Self::Queue
            | Self::Role
            | Self::Table
            | Self::Topic => true,
            Self::BucketPolicy | Self::FunctionUrl | Self::Permission | Self::QueuePolicy => false,
        }
    }

    /// Returns the property without which `attribute` does not exist. Returns `None` if the
    /// attribute always exists.
    pub fn property_required_by(self, attribute: &str) -> Option<&'static str> {
        match (self, attribute) {
            (Self::Table, "StreamArn") => Some("StreamSpecification"),
            _ => None,
        }
    }
}

impl fmt::Display for ResourceType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_is_found_by_its_name() {
        for resource_type in ResourceType::ALL {
            assert_eq!(ResourceType::from_name(resource_type.name()), Some(resource_type));
        }
        assert_eq!(ResourceType::from_name("AWS::EC2::NatGateway"), None);
    }
}
