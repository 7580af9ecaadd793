import BelfryModel

/// What somebody was admitted by, as far as it can be taken back.
enum Credential: Sendable, Hashable {
  /// A token that this key signed.
  case key(KeyIdentity)
  /// A back end's own key.
  case backEndKey(EntityID)
}
