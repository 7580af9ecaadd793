/// Every type of notification, a row each: the one table that the code, `belfry types`, the
/// documentation and the tests come from. Adding a type is adding a row to the file of its scene.
package enum Catalogue {
  package static let all: [NotificationType] = servers + channels + groups + rooms + announced + [custom]

  package static let custom = NotificationType(
    100, "custom", in: .any, parties: "the named receivers", others: .asSent, updatedBy: .sender)

  package static func type(_ code: Int) -> NotificationType? { byCode[code] }

  private static let byCode = Dictionary(uniqueKeysWithValues: all.map { ($0.code, $0) })
}
