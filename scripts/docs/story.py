"""A story in which every operation of the HTTP interface is asked once: what docs/http-examples.md shows.

`tell` is called with a teller, which asks, checks the status, and writes down what is to be shown:

    teller.chapter(title, words)
    teller.show(operation, caller, path=…, query=…, body=…, until=…)    shown; the answer as JSON
    teller.quiet(operation, caller, …)                                  asked, and not shown
"""


def tell(teller):
    server = servers(teller)
    channel = channels(teller, server)
    notifications(teller, server, channel)
    leaving(teller, server, channel)
    groups(teller)
    rooms(teller)
    accounts(teller)
    sessions(teller)
    webhooks(teller)
    operators(teller)


def servers(teller):
    show, quiet = teller.show, teller.quiet
    teller.chapter(
        "Servers", "Alice makes a server. Invited accounts must accept (`inviteMode` 0), and applicants need approval (`applyMode` 1).")
    server = show("serverCreate", "alice", body={"name": "Campfire", "inviteMode": 0, "applyMode": 1})["serverId"]
    path = {"serverId": server}
    show("serverShow", "alice", path)
    show("serverUpdate", "alice", path, body={"name": "Campfire Circle", "membersMayInvite": True})
    invited = show("serverInvite", "alice", path, body={"accids": ["bob", "carol"], "postscript": "Come along"})
    request = {one["accid"]: one["requestId"] for one in invited["invitations"]}
    show("serverPreview", "mallory", path)
    show("serverInvitations", "alice", path)
    show("accountInvitations", "bob", until=lambda answer: len(answer["requests"]) == 1)
    show("serverAccept", "bob", {**path, "requestId": request["bob"]})
    show("serverReject", "carol", {**path, "requestId": request["carol"]}, body={"postscript": "Not this week"})
    applied = show("serverApply", "carol", path, body={"postscript": "I can after all"})
    show("serverApplications", "alice", path)
    show("serverAdmit", "alice", {**path, "requestId": applied["requestId"]})
    quiet("serverApply", "mallory", path)
    show("serverTurnDown", "alice", {**path, "requestId": "mallory"}, body={"postscript": "Sorry"})
    code = show("serverCreateCode", "alice", path)["code"]
    show("serverJoin", "dave", path, body={"code": code})
    show("serverCodes", "alice", path)
    show("serverRevokeCode", "alice", {**path, "code": code})
    show("memberAdd", "app as alice", path, body={"accids": ["erin", "frank"]})
    show("memberList", "alice", path, query={"limit": 500})
    show("memberUpdate", "bob", {**path, "accid": "bob"}, body={"nick": "Bob the Bell"})
    show("memberShow", "alice", {**path, "accid": "bob"})
    show("serverAddAdmin", "alice", {**path, "accid": "carol"})
    show("serverRemoveAdmin", "alice", {**path, "accid": "carol"})
    show(
        "serverAnnounce", "app", path,
        body={"type": 26, "accids": ["bob"], "attach": {"roleId": "7", "name": "Ringing masters"}})
    show("serverBan", "alice", path, body={"accids": ["mallory"]})
    show("serverBans", "alice", path)
    show("serverUnban", "alice", {**path, "accid": "mallory"})
    quiet("serverBan", "app as alice", path, body={"accids": ["mallory"]})
    show("serverUnbanMany", "alice", path, body={"accids": ["mallory", "trudy"]})
    show("serverMute", "alice", path, body={"accids": ["bob"], "durationSeconds": 3600})
    show("serverMuted", "alice", path)
    show("serverUnmute", "alice", {**path, "accid": "bob"})
    quiet("serverMute", "app as alice", path, body={"accids": ["bob", "dave"], "durationSeconds": 3600})
    show("serverUnmuteMany", "alice", path, body={"accids": ["bob", "dave"]})
    show("serverSubscribe", "bob", path)
    show("serverUnsubscribe", "bob", path)
    show("serverList", "bob", until=lambda answer: len(answer["servers"]) == 1)
    return server


def channels(teller, server):
    show, quiet = teller.show, teller.quiet
    teller.chapter("Channels", "A private channel with a roster of its own, as a conversation within the server.")
    channel = show(
        "channelCreate", "alice", {"serverId": server},
        body={"name": "backstage", "type": "private", "membership": "roster", "members": ["bob"]})["channelId"]
    path = {"serverId": server, "channelId": channel}
    show("channelShow", "bob", path)
    show("channelUpdate", "alice", path, body={"description": "For those who ring"})
    show("channelList", "alice", {"serverId": server})
    invited = show("channelInvite", "alice", path, body={"accids": ["carol", "dave"]})
    requests = invited.get("invitations") or invited["asked"]
    request = {one["accid"]: one["requestId"] for one in requests}
    show("channelInvitations", "alice", path)
    show("channelAccept", "carol", {**path, "requestId": request["carol"]})
    show("channelDecline", "dave", {**path, "requestId": request["dave"]}, body={"postscript": "No time"})
    show("channelMembers", "alice", path)
    show("channelMember", "alice", {**path, "accid": "carol"})
    show("channelAllow", "alice", path, body={"accids": ["dave"]})
    show("channelAllowed", "alice", path)
    show("channelJoin", "dave", path)
    show("channelExit", "dave", {**path, "accid": "dave"})
    show("channelUnallow", "alice", {**path, "accid": "dave"})
    quiet("channelAllow", "app as alice", path, body={"accids": ["dave", "bob"]})
    show("channelUnallowMany", "alice", path, body={"accids": ["dave", "bob"]})
    show("channelBlock", "alice", path, body={"accids": ["dave"]})
    show("channelBlocked", "alice", path)
    show("channelUnblock", "alice", {**path, "accid": "dave"})
    quiet("channelBlock", "app as alice", path, body={"accids": ["dave", "erin"]})
    show("channelUnblockMany", "alice", path, body={"accids": ["dave", "erin"]})
    show("channelMute", "alice", path, body={"accids": ["bob"], "durationSeconds": 3600})
    show("channelMuted", "alice", path)
    show("channelUnmute", "alice", {**path, "accid": "bob"})
    quiet("channelMute", "app as alice", path, body={"accids": ["bob", "carol"], "durationSeconds": 3600})
    show("channelUnmuteMany", "alice", path, body={"accids": ["bob", "carol"]})
    show("channelSubscribe", "bob", path)
    show("channelUnsubscribe", "bob", path)
    show("serverSubscribeChannels", "bob", {"serverId": server})
    show("serverUnsubscribeChannels", "bob", {"serverId": server})
    show(
        "subscriptionsChange", "bob",
        body={"subscribe": True, "servers": [server], "channels": [{"serverId": server, "channelId": channel}]})
    show("channelRemoveMany", "alice", path, body={"accids": ["bob", "carol"]})
    quiet("channelJoin", "app as bob", path)
    return channel


def notifications(teller, server, channel):
    show, quiet = teller.show, teller.quiet
    teller.chapter("Notifications", "Bob marks everything as read that the operations above announced to him.")
    quiet("notificationRead", "bob", body={"upTo": teller.newest("bob")})
    sent = show(
        "notificationSend", "alice",
        body={"serverId": server, "body": "Practice is at seven", "messageClientId": "practice-1"})
    show(
        "notificationResend", "alice",
        body={"serverId": server, "body": "Practice is at seven", "messageClientId": "practice-1"})
    show("notificationBatch", "alice", lines=[
        {"serverId": server, "channelId": channel, "body": "Bring gloves", "messageClientId": "gloves-1"},
        {"serverId": server, "toAccids": ["nobody"], "body": "Who?", "messageClientId": "who-1"},
        {"serverId": server, "body": "Practice is at seven", "messageClientId": "practice-1"},
    ])
    quiet(
        "notificationSend", "alice",
        body={"serverId": server, "toAccids": ["bob"], "body": "You have the tenor", "messageClientId": "tenor-1"})
    message = sent["messageServerId"]
    show("notificationUpdate", "alice", {"messageServerId": message}, body={"body": "Practice is at eight"})
    page = show(
        "notificationUnread", "bob", query={"limit": 2},
        until=lambda answer: len(answer["notifications"]) == 2)
    show("notificationCounts", "bob")
    teller.stream("bob", after=page["cursor"])
    show("notificationTicket", "bob")
    teller.socket("bob", after=page["cursor"])
    mistake = quiet(
        "notificationSend", "alice", body={"serverId": server, "body": "Practise is at nine", "messageClientId": "no-1"})
    show("notificationRecall", "alice", {"messageServerId": mistake["messageServerId"]})
    show("serverLog", "operator", {"serverId": server}, query={"last": 4})
    show("notificationRead", "bob", body={"items": [{"messageServerId": message}]})
    show("notificationExplain", "app", {"messageServerId": message}, query={"account": "bob"})
    show("brokerTypes", "bob")


def leaving(teller, server, channel):
    show = teller.show
    teller.chapter("The end of a channel and of a server", "")
    show("channelRemove", "alice", {"serverId": server, "channelId": channel})
    show("memberRemove", "alice", {"serverId": server, "accid": "frank"})
    show("memberRemoveMany", "alice", {"serverId": server}, body={"accids": ["dave", "erin"]})
    show("serverHandOver", "alice", {"serverId": server}, body={"accid": "bob"})
    show("serverRemove", "bob", {"serverId": server})


def groups(teller):
    show, quiet = teller.show, teller.quiet
    teller.chapter("Groups", "This group is public, and its owner or an admin approves each applicant.")
    group = show(
        "groupCreate", "alice",
        body={"name": "Bell ringers", "style": "publicApproval", "inviteNeedConfirm": True})["groupId"]
    path = {"groupId": group}
    show("groupUpdate", "alice", path, body={"description": "Sundays at ten"})
    show("groupShow", "alice", path)
    invited = show("groupInvite", "alice", path, body={"accids": ["bob", "carol"], "message": "Ring with us"})
    request = {one["accid"]: one["requestId"] for one in invited["asked"]}
    show("groupInvitations", "alice", path)
    show("groupAccept", "bob", {**path, "requestId": request["bob"]})
    show("groupDecline", "carol", {**path, "requestId": request["carol"]}, body={"reason": "Too early"})
    applied = show("groupApply", "dave", path, body={"reason": "I can count to eight"})
    show("groupApplications", "alice", path)
    show("groupApprove", "alice", {**path, "requestId": applied["requestId"]})
    quiet("groupApply", "mallory", path)
    show("groupRefuse", "alice", {**path, "requestId": "mallory"})
    show("groupMembers", "alice", path)
    show("groupAddAdmin", "alice", {**path, "accid": "bob"})
    show("groupRemoveAdmin", "alice", {**path, "accid": "bob"})
    show("groupSetAttributes", "bob", {**path, "accid": "bob"}, body={"attributes": {"bell": "tenor"}})
    show("groupAttributes", "alice", {**path, "accid": "bob"})
    show("groupAnnounce", "alice", path, body={"announcement": "The bells are cleaned on Friday"})
    show("groupAnnouncement", "bob", path)
    file = show(
        "groupAddFile", "alice", path, body={"name": "peal.pdf", "size": 48213, "url": "https://files.example/peal.pdf"})
    show("groupFiles", "bob", path)
    show("groupRemoveFile", "alice", {**path, "fileId": file["fileId"]})
    show("groupMute", "alice", path, body={"accids": ["dave"], "durationSeconds": 3600})
    show("groupMuted", "alice", path)
    show("groupUnmute", "alice", {**path, "accid": "dave"})
    quiet("groupMute", "app as alice", path, body={"accids": ["bob", "dave"], "durationSeconds": 3600})
    show("groupUnmuteMany", "alice", path, body={"accids": ["bob", "dave"]})
    show("groupMuteAll", "alice", path)
    show("groupUnmuteAll", "alice", path)
    show("groupAllow", "alice", path, body={"accids": ["bob"]})
    show("groupAllowed", "alice", path)
    show("groupIsAllowed", "bob", {**path, "accid": "bob"})
    show("groupUnallow", "alice", {**path, "accid": "bob"})
    quiet("groupAllow", "app as alice", path, body={"accids": ["bob", "dave"]})
    show("groupUnallowMany", "alice", path, body={"accids": ["bob", "dave"]})
    show("groupBlock", "alice", path, body={"accids": ["mallory"]})
    show("groupBlocked", "alice", path)
    show("groupUnblock", "alice", {**path, "accid": "mallory"})
    quiet("groupBlock", "app as alice", path, body={"accids": ["mallory", "trudy"]})
    show("groupUnblockMany", "alice", path, body={"accids": ["mallory", "trudy"]})
    show("groupDisable", "app", path)
    show("groupEnable", "app", path)
    show("groupStop", "dave", path)
    show("groupReceiving", "dave", path)
    show("groupResume", "dave", path)
    show("groupMine", "bob", until=lambda answer: len(answer["groups"]) == 1)
    show("groupList", "mallory", until=lambda answer: len(answer["groups"]) == 1)
    show("groupRemove", "alice", {**path, "accid": "dave"})
    show("groupRemoveMany", "alice", path, body={"accids": ["bob"]})
    quiet("groupApprove", "app as alice", {**path, "requestId": quiet("groupApply", "app as bob", path)["requestId"]})
    show("groupAssignOwner", "alice", path, body={"accid": "bob"})
    show("groupDestroy", "bob", path)


def rooms(teller):
    show, quiet = teller.show, teller.quiet
    teller.chapter("Rooms", "Alice is the host; bob and carol come to listen.")
    room = show("roomCreate", "alice", body={"subject": "Evening ringing", "nick": "Alice"})["roomId"]
    path = {"roomId": room}
    show("roomEnter", "bob", path, body={"nick": "Bob the Bell", "avatar": "https://files.example/bob.png"})
    quiet("roomEnter", "carol", path)
    show("roomShow", "bob", path)
    show("roomList", "carol", until=lambda answer: len(answer["rooms"]) == 1)
    show("roomUpdate", "alice", path, body={"subject": "Late ringing"})
    show("roomAttendees", "bob", path)
    show("roomPresence", "bob", until=lambda answer: len(answer["rooms"]) == 1)
    show("roomRaiseHand", "bob", {**path, "accid": "bob"})
    show("roomHands", "alice", path)
    show("roomLowerHand", "bob", {**path, "accid": "bob"})
    invitation = show("roomInviteOnStage", "alice", path, body={"accid": "bob"})
    show("roomAcceptStage", "bob", {**path, "token": invitation["token"]})
    show("roomMicrophone", "bob", {**path, "accid": "bob"}, body={"on": True})
    invitation = quiet("roomInviteOnStage", "alice", path, body={"accid": "carol"})
    show("roomDeclineStage", "carol", {**path, "token": invitation["token"]})
    show("roomStepDown", "bob", {**path, "accid": "bob"})
    show("roomLeave", "bob", {**path, "accid": "bob"})
    show("roomClose", "alice", path)


def accounts(teller):
    show = teller.show
    teller.chapter("Accounts", "")
    show("accountUpdate", "bob", body={"mayWrite": "sharedSpace"})
    show("accountShow", "bob")
    show("accountPrefer", "bob", body={"preferences": [{"types": [7, 14], "level": "none"}]})
    show("accountPreferences", "bob")
    show("accountBlock", "bob", {"accid": "mallory"})
    show("accountBlocked", "bob")
    show("accountUnblock", "bob", {"accid": "mallory"})
    phone = {"deviceId": "phone"}
    body = {"kind": "matrix", "url": "https://push.example", "appId": "com.example.app", "pushkey": "5d41402abc4b2a76"}
    show("accountPutPusher", "bob", phone, body=body)
    show("accountPushers", "bob")
    show("accountPusher", "bob", phone)
    show("accountRemovePusher", "bob", phone)
    show("accountStreams", "bob")
    show("accountEndDevice", "bob", {"deviceId": "phone"})
    show("accountEnd", "app as bob")
    show("accountRevoke", "frank")


def sessions(teller):
    teller.chapter("Sessions of browsers", "A token in a cookie, for pages of origins that are allowed.")
    teller.show("sessionBegin", "bob")
    teller.show("sessionEnd", None)


def webhooks(teller):
    show = teller.show
    teller.chapter("Webhooks", "The address is none that a broker connects to, so the test says why.")
    body = {"url": "https://localhost/copies", "types": [100], "format": "cloudevents"}
    path = {"webhookId": show("webhookCreate", "app", body=body)["webhookId"]}
    show("webhookList", "app")
    show("webhookShow", "app", path)
    show("webhookUpdate", "app", path, body={"types": [1, 100]})
    show("webhookRotate", "app", path)
    show("webhookTest", "app", path)
    show("webhookReplay", "app", path, body={"from": 0})
    show("webhookRemove", "app", path)


def operators(teller):
    show = teller.show
    teller.chapter("For those who run it", "")
    key = show("keyCreate", "operator", body={"name": "billing", "scope": ["send"], "ttlSeconds": 7776000})
    show("keyList", "operator")
    show("keyRevoke", "operator", {"keyId": key["keyId"]})
    show("brokerAudit", "operator", query={"limit": 2})
    show("brokerStats", "operator")
    show("brokerNodes", "operator")
    show("brokerMetrics", "operator")
    show("brokerOpenapi", None)
    show("brokerAlive", None)
    show("brokerReady", None)
