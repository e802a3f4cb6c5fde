# SPDX-License-Identifier: Apache-2.0
"""Which message a callback was called with, from the events of tracetools.

Between processes by the topic and the source time stamp, which the writer and the take have in
common; within a process by the place in the buffer of the subscription; requests of services and
their responses by the client and its sequence number. What a callback reads besides, no event says.
A thread may record what it sent to a service or a client only after it was taken there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable

from takt.schedule.ros2.called import Call, Handle, Message
from takt.schedule.ros2.event import Event
from takt.schedule.ros2.stand_ins import Done, Endpoint
from takt.schedule.ros2.topics import request_topic, response_topic, service_name, topic_name


class Messages:
    """Follows messages from their publication to the thread that takes them."""

    def __init__(self) -> None:
        self.created: list[Message] = []
        self._topics: dict[Handle, str] = {}  # of publishers, clients and readers
        self._clients: dict[Handle, str] = {}  # their numbers
        self._known: dict[Hashable, Message] = {}  # by what its take repeats
        self._latest: dict[Handle, tuple[Handle, Message]] = {}  # by thread, within the process
        self._buffers: dict[Handle, dict[object, Message]] = defaultdict(dict)  # by place
        self._going: dict[Handle, Message] = {}  # by thread, from rcl to rmw
        self._taken: dict[Handle, Message | None] = {}  # by thread
        self._ended: dict[Handle, Call] = {}  # the last one, by thread
        # On their way, by their requests; or what they began, where they are not recorded yet.
        self._responses: dict[int, Message | Call] = {}
        self._unsent: dict[Handle, Hashable] = {}  # requests that are not recorded yet, by thread
        self._before: dict[Hashable, Call] = {}  # what they began
        self._ends: dict[Handle, Endpoint] = {}  # publishers, and readers by the handle of rmw
        # What stands for callbacks in processes in which none was called, by process.
        self._calling: set[int] = set()
        self._publications: dict[int, list[Done]] = defaultdict(list)
        self._takes: dict[int, list[Done]] = defaultdict(list)
        self._serving: dict[Hashable, Done] = {}  # by the key of the request
        self._serves: dict[Handle, Done] = {}  # by thread

    def take(self, name: str, event: Event, call: Call | None) -> None:
        """The next event; ``call``: the callback that runs in its thread."""
        if handler := getattr(self, f"_{name}", None):
            handler(event, call)

    def pause(self) -> None:
        """What threads do from now on is not recorded."""
        threads = (self._latest, self._going, self._taken, self._ended, self._unsent, self._serves)
        for one in threads:
            one.clear()

    @property
    def publications(self) -> list[Done]:
        """Those of processes without a callback."""
        return [one for each in self._publications.values() for one in each]

    @property
    def takes(self) -> list[Done]:
        """Those of processes without a callback."""
        return [one for each in self._takes.values() for one in each]

    def begins(self, call: Call, topic: str) -> None:
        """A callback of this topic begins: it was called with what its thread took last."""
        self._latest.pop(call.thread, None)
        if call.thread[0] not in self._calling:
            self._calling.add(call.thread[0])
            self._publications.pop(call.thread[0], None)
            self._takes.pop(call.thread[0], None)
        if (request := self._unsent.pop(call.thread, None)) is not None:
            self._before[request] = call
        message = self._taken.pop(call.thread, None)
        if message is not None and message.topic == topic:
            call.took = message

    def _rcl_publisher_init(self, event: Event, _: Call | None) -> None:
        topic = topic_name(str(event.fields.get("topic_name", "")))
        for key in ("publisher_handle", "rmw_publisher_handle"):
            self._topics[event.handle(key)] = topic
        self._add_end(event, "publisher_handle", topic)

    def _rcl_subscription_init(self, event: Event, _: Call | None) -> None:
        topic = topic_name(str(event.fields.get("topic_name", "")))
        self._topics[event.handle("rmw_subscription_handle")] = topic
        self._add_end(event, "rmw_subscription_handle", topic)

    def _add_end(self, event: Event, key: str, topic: str) -> None:
        handle = event.handle(key)
        self._ends[handle] = Endpoint(handle, event.handle("node_handle"), topic)

    def _rcl_service_init(self, event: Event, _: Call | None) -> None:
        self._service(event, "rmw_service_handle")

    def _rcl_client_init(self, event: Event, _: Call | None) -> None:
        self._service(event, "rmw_client_handle")

    def _service(self, event: Event, key: str) -> None:
        handle = event.handle(key)
        topic = request_topic(topic_name(str(event.fields.get("service_name", ""))))
        self._topics[handle] = topic
        self._ends[handle] = Endpoint(handle, event.handle("node_handle"), topic)

    def _rmw_client_init(self, event: Event, _: Call | None) -> None:
        self._clients[event.handle("rmw_client_handle")] = str(event.fields.get("gid", ""))

    def _rclcpp_intra_publish(self, event: Event, call: Call | None) -> None:
        publisher = event.handle("publisher_handle")
        if topic := self._topics.get(publisher):
            self._latest[event.thread] = publisher, self._make(event, topic, call)

    def _rcl_publish(self, event: Event, call: Call | None) -> None:
        publisher = event.handle("publisher_handle")
        within = self._latest.get(event.thread)
        # Published within the process first, it goes to other processes, too: one message.
        if within is not None and within[0] == publisher:
            del self._latest[event.thread]
            self._going[event.thread] = within[1]
        elif topic := self._topics.get(publisher):
            message = self._going[event.thread] = self._make(event, topic, call)
            if call is None:
                self._publish(event, publisher, message)

    def _publish(self, event: Event, by: Handle, message: Message) -> None:
        """Outside of all callbacks that are known."""
        if (serves := self._serves.get(event.thread)) is not None:
            serves.published.append(message)
            serves.end = event.time
        elif event.process not in self._calling:
            self._publications[event.process].append(self._done(event, by, message))

    def _take(self, event: Event, by: Handle, message: Message | None) -> Done | None:
        """One of a process without callbacks; its thread goes on from whatever it did before."""
        self._serves.pop(event.thread, None)
        if event.process in self._calling or by not in self._ends:
            return None
        done = self._done(event, by, message)
        self._takes[event.process].append(done)
        return done

    def _done(self, event: Event, by: Handle, message: Message | None) -> Done:
        core = int(event.fields.get("core", -1))
        return Done(self._ends[by], event.time, event.thread, core, message)

    def _rmw_publish(self, event: Event, call: Call | None) -> None:
        message = self._going.pop(event.thread, None)
        topic = self._topics.get(event.handle("rmw_publisher_handle"))
        if topic is None or "timestamp" not in event.fields:
            return
        if message is None or message.topic != topic:  # not by rcl
            message = self._make(event, topic, call)
        self._known[topic, event.fields["timestamp"]] = message

    def _rmw_send_request(self, event: Event, call: Call | None) -> None:
        client = event.handle("rmw_client_handle")
        topic, number = self._topics.get(client), self._clients.get(client)
        if topic is not None and number:
            key = (topic, number, event.fields.get("sequence_number"))
            request = self._known[key] = self._make(event, topic, call)
            if (begun := self._before.pop(key, None)) is not None:
                request.time = min(request.time, begun.begin)
                begun.took = request
            request.cpu = event.cpu_time
            if call is not None:
                call.requests.append(request)
            else:
                self._publish(event, client, request)

    def _rmw_send_response(self, event: Event, call: Call | None) -> None:
        """rclcpp sends what the callback of the server returned, and that is its last act."""
        topic = self._topics.get(event.handle("rmw_service_handle"))
        maker = call or self._ended.get(event.thread)
        if topic is None:
            return
        key = (topic, event.fields.get("client_gid"), event.fields.get("sequence_number"))
        served = self._serving.pop(key, None)
        request, name = self._known.get(key), service_name(topic)
        if request is None or name is None or (maker is None and served is None):
            return
        time = event.time if call or not maker else max(maker.begin, maker.end - 1)
        response = Message(response_topic(name), time, maker)
        self.created.append(response)
        begun = self._responses.pop(id(request), None)
        if isinstance(begun, Call):
            begun.took = response
        else:
            self._responses[id(request)] = response
        if maker is not None:
            maker.published[response.topic, "rcl"] += 1
        elif served is not None:
            served.published.append(response)
            served.end = event.time
            if self._serves.get(event.thread) is served:
                del self._serves[event.thread]

    def take_response(self, event: Event, call: Call | None, begun: Call) -> None:
        """A thread in which ``call`` runs takes one, and begins its callback: it is answered."""
        client = event.handle("rmw_client_handle")
        topic, number = self._topics.get(client), self._clients.get(client)
        request = self._known.get((topic, number, event.fields.get("sequence_number")))
        if request is None:
            return
        request.answered = event.time
        maker = request.maker
        request.waited = maker is not None and (call is maker or not maker.end)
        response = self._responses.pop(id(request), None)
        if call is None and (name := service_name(topic or "")) is not None:
            end = self._ends[client]
            self._ends[client] = Endpoint(end.handle, end.node, response_topic(name))
            self._take(event, client, response if isinstance(response, Message) else None)
            self._ends[client] = end
        if isinstance(response, Message):
            begun.took = response
        else:
            self._responses[id(request)] = begun

    def ends(self, call: Call) -> None:
        """A callback ended."""
        self._ended[call.thread] = call

    def _make(self, event: Event, topic: str, call: Call | None) -> Message:
        message = Message(topic, event.time, call)
        self.created.append(message)
        return message

    def _rmw_take(self, event: Event, _: Call | None) -> None:
        reader = event.handle("rmw_subscription_handle")
        topic = self._topics.get(reader)
        if topic is not None and event.fields.get("taken"):
            known = self._known.get((topic, event.fields.get("source_timestamp")))
            self._taken[event.thread] = known
            self._take(event, reader, known)

    def _rmw_take_request(self, event: Event, _: Call | None) -> None:
        topic = self._topics.get(event.handle("rmw_service_handle"))
        if topic is not None and event.fields.get("taken"):
            fields = event.fields
            key = (topic, fields.get("client_gid"), fields.get("sequence_number"))
            self._taken[event.thread] = self._known.get(key)
            done = self._take(event, event.handle("rmw_service_handle"), self._known.get(key))
            if done is not None:
                self._serving[key] = self._serves[event.thread] = done
            if key not in self._known:
                self._unsent[event.thread] = key

    def _rclcpp_ring_buffer_enqueue(self, event: Event, _: Call | None) -> None:
        buffer, place = self._buffers[event.handle("buffer")], event.fields.get("index")
        buffer.pop(place, None)
        if (within := self._latest.get(event.thread)) is not None:
            buffer[place] = within[1]

    def _rclcpp_ring_buffer_dequeue(self, event: Event, _: Call | None) -> None:
        buffer = self._buffers[event.handle("buffer")]
        self._taken[event.thread] = buffer.pop(event.fields.get("index"), None)

    def _rclcpp_ring_buffer_clear(self, event: Event, _: Call | None) -> None:
        self._buffers[event.handle("buffer")].clear()
