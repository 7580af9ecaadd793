/**
 * Ids are decimal strings, because a number cannot hold all of their digits. Give them as strings; numbers are refused.
 * Times are milliseconds since 1970.
 */
export type Id = string;
export type TokenProvider = () => string | Promise<string>;

export interface NotificationSetting {
  persistEnable?: boolean;
  pushEnable?: boolean;
  needBadge?: boolean;
  needPushNick?: boolean;
  routeEnable?: boolean;
}

interface Content {
  messageClientId?: string;
  serverId?: Id;
  channelId?: Id;
  groupId?: Id;
  roomId?: Id;
  toAccids?: string[];
  fromAccount?: string;
  fromNick?: string;
  fromClientType?: string | number;
  fromDeviceId?: string;
  body?: string;
  ext?: string;
  attach?: unknown;
  status?: number;
  pushPayload?: unknown;
  pushContent?: string;
  setting?: NotificationSetting;
  env?: string;
  expireAt?: number;
  type?: number;
  toType?: number;
}

/** What is given of the ids and `toAccids` says whom it is for. */
export interface NewNotification extends Content {}

export interface Notification extends Content {
  messageServerId: Id;
  time: number;
  type: number;
  toType: number;
  status: number;
  setting: NotificationSetting;
  updateTime?: number;
  callbackExt?: string;
}

export interface SendReceipt {
  messageServerId: Id;
  messageClientId: string;
  time: number;
  /** Whether it had been sent before, perhaps by this very call's first try. Nobody receives it again then. */
  duplicate: boolean;
  type: number;
  toType: number;
  serverId?: Id;
  channelId?: Id;
  groupId?: Id;
  roomId?: Id;
}

export interface UnreadPage {
  notifications: Notification[];
  /** The place behind the last of them, for the next page or for a feed. */
  cursor: string;
  /** What the cursor asked for and retention has dropped. */
  gap?: { from: Id; to: Id };
}

export interface UnreadCounts {
  unread: number;
  /** Those of them that count in the number on an app's icon. */
  badge: number;
  spaces: { space: string; unread: number }[];
  types: { type: number; unread: number }[];
  /** Whether more is unread than was counted. */
  isCapped: boolean;
}

export interface Preference {
  space?: string;
  types?: number[];
  level: "all" | "parties" | "none";
  until?: number;
}

export interface ReadItem {
  messageServerId: Id;
  type?: number;
}

/** What a feed tells, in the order in which it happened. Each `cursor` is the place right behind it, for `after`. */
export type FeedEvent =
  /** A notification, unread so far. Without a cursor only one that is not stored, before anything that is. */
  | { kind: "notification"; notification: Notification; cursor: string | undefined }
  /** A notification received before has another body, ext or status now. */
  | { kind: "updated"; notification: Notification; cursor: string | undefined }
  /** A notification that may have been received before was recalled: it is not to be shown any more. */
  | { kind: "retracted"; messageServerId: Id; cursor: string | undefined }
  /** Another device of the account, or this one by another way, has read these, or everything up to one. */
  | { kind: "read"; messageServerIds: Id[]; upTo: Id | undefined }
  /** The account wants to hear this now. What was received before is to be dropped: what is left of it follows again. */
  | { kind: "preferences"; preferences: Preference[] }
  /** How much is unread now; only with `withCounts`. */
  | { kind: "counts"; counts: UnreadCounts }
  /** Another device of the account did something, such as joining a channel. */
  | { kind: "device"; operation: string; of: string; target: unknown; device: string | undefined }
  /** Notifications between the two ids may be missing: retention dropped them, or Redis lost them. */
  | { kind: "gap"; from: Id; to: Id }
  /** The broker ended the connection on purpose. With `retry`, and for `tokenExpired` and `tokenRevoked` with another token,
      the feed comes back by itself; otherwise this is its last event. */
  | { kind: "kicked"; reason: string; retry: boolean; byDevice: string | undefined }
  /** The feed is connected, at first or again. */
  | { kind: "connected" }
  /** The connection broke or was not made. The feed tries again after the pause; nothing is lost. */
  | { kind: "disconnected"; because: BelfryError; pauseMilliseconds: number }
  /** An event that this version does not know or cannot read, as it came. */
  | { kind: "other"; event: string; data: string };

export interface NotificationFeed extends AsyncIterableIterator<FeedEvent> {
  /** The place behind the last event that was handed out. */
  readonly cursor: string | undefined;
  /** Ends the feed, at any time. Whoever waits for the next event hears that there is none. */
  close(): void;
}

export interface CallOptions {
  signal?: AbortSignal;
}

export interface ClientOptions {
  /** Where the broker is; a path in it is kept as a prefix. If absent, the page's own origin. */
  url?: string | URL;
  /** A function is called for the first request, half a minute before the token that it gave expires, and when that is
      refused. If absent, a cookie has to say who is asking. */
  token?: string | TokenProvider;
  /** Whom to act for, with an app or operator token. */
  account?: string;
  /** The device that acts, when the token does not name it. */
  device?: string;
  /** As of fetch: `include` sends the cookies of another origin. */
  credentials?: "omit" | "same-origin" | "include";
  fetch?: typeof globalThis.fetch;
}

export class BelfryClient {
  constructor(options?: ClientOptions);
  /** How often a request is tried before its error is thrown; 3 if nothing is said. */
  attemptsLimit: number;

  /** Sends once, whatever happens to the answers on the way: without a `messageClientId` it is given one, so that all tries
      are one send. `messageClientId` of an error tells it. */
  send(notification: NewNotification, options?: CallOptions): Promise<SendReceipt>;
  /** Sends what may or may not have arrived. Needs the `messageClientId` of the first send. */
  resend(notification: NewNotification & { messageClientId: string }, options?: CallOptions): Promise<SendReceipt>;
  /** Sends up to 1,000 in one request. One result each, in the same order; a refused one does not hold up the others. */
  sendBatch(notifications: Iterable<NewNotification>, options?: CallOptions): Promise<(SendReceipt | BelfryError)[]>;
  /** Changes a notification that was sent. What is absent stays as it is. */
  update(
    messageServerId: Id, changes: { body?: string; ext?: string; status?: number }, options?: CallOptions
  ): Promise<Notification>;
  /** Takes a notification back: nobody is shown it any more. Doing it twice is doing it once. */
  recall(messageServerId: Id, options?: CallOptions): Promise<void>;

  /** Everything unread, or what is behind the cursor, then what happens as it happens. A first connection that nobody answers
      is an error, since the URL may be wrong, unless `waitsForBroker`. */
  notifications(
    options?: { after?: string; withCounts?: boolean; waitsForBroker?: boolean } & CallOptions
  ): NotificationFeed;
  /** What is unread and not yet past the cursor, oldest first. When there is nothing, waits so long for something. */
  unread(options?: { limit?: number; after?: string; waitSeconds?: number } & CallOptions): Promise<UnreadPage>;
  /** How much is unread. */
  counts(options?: CallOptions): Promise<UnreadCounts>;

  /** Marks up to 500 as read, for good and on all devices of the account; ids will do. How many were unread until now. */
  markRead(notifications: Iterable<ReadItem | Id>, options?: CallOptions): Promise<number>;
  /** Marks everything up to this one as read; `LAST_MESSAGE_ID` for everything there is. */
  markReadUpTo(messageServerId: Id, options?: CallOptions): Promise<number>;

  /** To a server's own notifications, or to those of one channel. */
  subscribe(server: Id, channel?: Id, options?: CallOptions): Promise<void>;
  unsubscribe(server: Id, channel?: Id, options?: CallOptions): Promise<void>;
  /** What the account wants to hear. */
  preferences(options?: CallOptions): Promise<Preference[]>;
  /** In the place of all that was said before. */
  setPreferences(preferences: Preference[], options?: CallOptions): Promise<void>;
}

export class BelfryError extends Error {
  /** A stable word to switch on: that of the broker's problem document, or `transport` (no answer: whether a write happened
      is unknown), `protocol` (an answer that is not one of Belfry's), `cancelled`. `unknownOutcome` is the broker's for what
      it may have done: send again with `messageClientId`, and it is sent once. */
  readonly code: string;
  /** What is wrong, a sentence for a person. */
  readonly detail: string;
  /** The HTTP status; undefined when there was no answer. */
  readonly status?: number;
  /** What of the request is to blame, such as `toAccids[3]`. */
  readonly field?: string;
  /** After how many seconds the broker says it is worth trying again. */
  readonly retryAfter?: number;
  /** With the code `refusedByCallback`: the callback's own code for its reason. */
  readonly callbackCode?: string;
  /** Of a send: under which id it was tried, so that it can be sent again. */
  readonly messageClientId?: string;
  /** Set if a batch failed as a whole: its notifications with their `messageClientId`s. Send these again, and each is sent once. */
  notifications?: NewNotification[];
  /** True if no connection was made, so that the broker cannot have had the request. */
  readonly nothingWasSent: boolean;
  /** True if the request may have been carried out all the same. */
  get leavesOutcomeOpen(): boolean;
  /** Whether the same request may succeed later without anyone changing anything. */
  get mayPass(): boolean;
}

export const LAST_MESSAGE_ID: Id;
