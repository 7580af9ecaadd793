import BelfryModel

// The names of types with few values in the description of the interface.

extension InviteMode: NamedChoice {
  package static var schemaName: String { "InviteMode" }
}

extension ApplyMode: NamedChoice {
  package static var schemaName: String { "ApplyMode" }
}

extension SendMode: NamedChoice {
  package static var schemaName: String { "SendMode" }
}

extension NickRule: NamedChoice {
  package static var schemaName: String { "NickRule" }
}

extension ChannelRecord.Kind: NamedChoice {
  package static var schemaName: String { "ChannelType" }
}

extension ChannelRecord.Membership: NamedChoice {
  package static var schemaName: String { "ChannelMembership" }
}

extension GroupStyle: NamedChoice {
  package static var schemaName: String { "GroupStyle" }
}

extension MemberRole: NamedChoice {
  package static var schemaName: String { "MemberRole" }
}

extension AccountRecord.Circle: NamedChoice {
  package static var schemaName: String { "Circle" }
}

extension Preference.Level: NamedChoice {
  package static var schemaName: String { "PreferenceLevel" }
}

extension ToType: NamedChoice {
  package static var schemaName: String { "ToType" }
}

extension Scope: NamedChoice {
  package static var schemaName: String { "Scope" }
}

extension PusherKind: NamedChoice {
  package static var schemaName: String { "PusherKind" }
}

extension WebhookFormat: NamedChoice {
  package static var schemaName: String { "WebhookFormat" }
}
