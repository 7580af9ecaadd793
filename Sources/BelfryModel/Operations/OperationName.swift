/// What an operation is called, on the command line and to an account's other devices: `group mute`.
package struct OperationName: Sendable, Hashable, CustomStringConvertible {
  package var scene: NotificationType.Scene
  package var word: String

  package init(_ scene: NotificationType.Scene, _ word: String) {
    self.scene = scene
    self.word = word
  }

  package var description: String { "\(scene.rawValue) \(word)" }
}
