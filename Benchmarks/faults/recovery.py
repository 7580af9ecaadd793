"""How long it took after each fault until all was as before."""

from .checker.audience import MUST
from .checker.case import Case
from .history import OK, History


def find_recoveries(history: History) -> None:
    """From where a fault ended until the first notification sent afterwards was on all streams that were to have it. Not
    known where the next fault began before."""
    case = Case(history, 0.0)
    begins = sorted(fault.began for fault in history.faults)
    sends = sorted((send for send in history.sends if send.outcome == OK), key=lambda send: send.began)
    for fault in history.faults:
        if fault.ended > history.ended:
            continue
        send = next((send for send in sends if send.began >= fault.ended and _devices(case, send)), None)
        if not send:
            continue
        shown = [case.first_shown_to_device[device].get(send.id) for device in _devices(case, send)]
        if not all(shown):
            continue
        until = max([send.ended, *(one.at for one in shown)])
        if not any(fault.ended < begin < until for begin in begins):
            fault.recovered = until - fault.ended


def _devices(case: Case, send) -> list[str]:
    """The streams that are not cut by the scene itself."""
    return [
        device
        for account, verdict in case.receivers[send.client_id].items()
        if verdict == MUST and not case.reading[account].possibly(send.id, send.began)
        for device in case.devices_of[account]
        if device.endswith("-desk")
    ]
