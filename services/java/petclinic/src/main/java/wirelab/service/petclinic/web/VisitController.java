package wirelab.service.petclinic.web;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import wirelab.service.petclinic.ClinicService;
import wirelab.service.petclinic.message.Messages;

/** Operations on rows of kind Visit. */
@RestController
@RequestMapping(Answers.PREFIX + "visits")
final class VisitController {
    private final ClinicService clinic;
    private final Messages messages;
    private final Answers answers;

    VisitController(ClinicService clinic, Messages messages, Answers answers) {
        this.clinic = clinic;
        this.messages = messages;
        this.answers = answers;
    }

    @GetMapping
    ResponseEntity<Object> listVisits() {
        return answers.answerFound("ListVisits", () -> clinic.listVisits(answers.encodeWith(messages::visits)));
    }

    @PostMapping
    ResponseEntity<Object> addVisit(@RequestBody(required = false) byte[] body) {
        return answers.answerCreated("AddVisit", "visits", body,
                request -> clinic.addVisit(messages.visit(request), row -> answers.make(row.id, row, messages::reply)));
    }

    @GetMapping("/{id}")
    ResponseEntity<Object> getVisit(@PathVariable String id) {
        int row = Answers.id(id);
        return answers.answerFound("GetVisit", () -> clinic.getVisit(row, answers.encodeWith(messages::reply)));
    }

    @PutMapping("/{id}")
    ResponseEntity<Object> updateVisit(@PathVariable String id, @RequestBody(required = false) byte[] body) {
        int row = Answers.id(id);
        return answers.answerChanged("UpdateVisit", body, request -> clinic.updateVisit(row, messages.visit(request)));
    }

    @DeleteMapping("/{id}")
    ResponseEntity<Object> deleteVisit(@PathVariable String id) {
        int row = Answers.id(id);
        return answers.answerDeleted("DeleteVisit", () -> clinic.deleteVisit(row));
    }
}
