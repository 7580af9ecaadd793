/// All routes of the HTTP interface.
package enum Routes {
  package static let all: [Route] =
    BrokerRoutes.all + OperatorRoutes.all + ServerRoutes.all + AccountRoutes.all + ServerJoiningRoutes.all
    + MemberRoutes.all + ChannelRoutes.all + GroupRoutes.all + RoomRoutes.all + NotificationRoutes.all
    + WebhookRoutes.all + PusherRoutes.all + AccountStreamRoutes.all + SessionRoutes.all
    + SocketRoutes.all
}
