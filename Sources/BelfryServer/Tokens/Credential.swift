import BelfryModel

/// What a request was authenticated by, as far as it can be revoked.
enum Credential: Sendable, Hashable {
  /// A token that this key signed.
  case key(KeyIdentity)
  /// A back end's own key.
  case backEndKey(EntityID)
}
