import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;

/** Creates a session, learns, predicts and reads an event, as any Java program would. */
public class Client {
    static final HttpClient CLIENT = HttpClient.newHttpClient(); // offers h2c with every request
    static String session;

    static String ask(String method, String path, String body, int status) throws Exception {
        var request = HttpRequest.newBuilder(URI.create(session + path))
            .header("Content-Type", "application/json")
            .method(method, HttpRequest.BodyPublishers.ofString(body)).build();
        var answer = CLIENT.send(request, BodyHandlers.ofString());
        if (answer.statusCode() != status) {
            throw new Exception(method + path + ": " + answer.statusCode() + answer.body());
        }
        return answer.body();
    }

    public static void main(String[] args) throws Exception {
        session = args[0];
        ask("PUT", "", "{\"model\": \"linear\", \"dim\": 2}", 201);
        for (int i = 0; i < 3; i++) {
            ask("POST", "/samples", "{\"x\": [1.0, 2.0], \"y\": 3.0}", 200);
        }
        System.out.print(ask("POST", "/predict", "{\"x\": [1.0, 2.0]}", 200));
        var events = HttpRequest.newBuilder(URI.create(session + "/events")).build();
        try (var lines = CLIENT.send(events, BodyHandlers.ofLines()).body()) {
            System.out.println(lines.filter(line -> line.startsWith("id: ")).findFirst().get());
        }
        System.exit(0);
    }
}
