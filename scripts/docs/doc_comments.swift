// The names that examples in doc comments use and do not declare.
import FoundationEssentials

let address = URL(string: "https://belfry.example.com")!
let token = ""
let client = BelfryClient(baseURL: address, token: token)
let alice = AccountID("alice")!
let bob = AccountID("bob")!
let server = EntityID("1")!
let channel = EntityID("2")!
let messageID = MessageID("382949042646683648")!
let notification = BelfryClient.Notification(
  messageServerId: messageID, time: 0, content: NotificationContent(type: 100, toType: .accounts))
let savedCursor: String? = nil
func fetchToken() async throws -> String { token }
func save(_ cursor: String) {}
func show(_ notification: BelfryClient.Notification) {}
func hide(_ ids: [MessageID]) {}
func hideAll(upTo id: MessageID) {}
