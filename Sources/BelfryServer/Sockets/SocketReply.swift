import BelfryHTTP
import BelfryModel

/// The reply to a frame, which waits for its answer.
final class SocketReply: AnswerTaker {
  private let id: Int64
  /// The socket, for as long as it is open.
  private weak var session: SocketSession?

  init(_ id: Int64, of session: SocketSession) {
    self.id = id
    self.session = session
  }

  func respond(_ response: HTTPResponse) { session?.answer(Self.text(of: response, to: id)) }

  /// This does nothing, because no request of a frame is held.
  func watchForEnd(_ action: @escaping () -> Void) {}

  /// `{"id":1,"ok":{…}}` or `{"id":1,"problem":{…}}`
  static func text(of response: HTTPResponse, to id: Int64) -> [UInt8] {
    let body = response.body.isEmpty ? Array("{}".utf8) : response.body
    var text = JSONText(capacity: body.count + 48)
    text.field("id", id)
    if response.status < 300 { text.field("ok", json: body) } else { text.field("problem", json: body) }
    return text.finish()
  }
}
