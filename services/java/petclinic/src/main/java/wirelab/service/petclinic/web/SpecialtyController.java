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

/** Operations on rows of kind Specialty. */
@RestController
@RequestMapping(Answers.PREFIX + "specialties")
final class SpecialtyController {
    private final ClinicService clinic;
    private final Messages messages;
    private final Answers answers;

    SpecialtyController(ClinicService clinic, Messages messages, Answers answers) {
        this.clinic = clinic;
        this.messages = messages;
        this.answers = answers;
    }

    @GetMapping
    ResponseEntity<Object> listSpecialties() {
        return answers.answerFound("ListSpecialties", () -> clinic.listSpecialties(answers.encodeWith(messages::specialties)));
    }

    @PostMapping
    ResponseEntity<Object> addSpecialty(@RequestBody(required = false) byte[] body) {
        return answers.answerCreated("AddSpecialty", "specialties", body,
                request -> clinic.addSpecialty(messages.specialty(request), row -> answers.make(row.id, row, messages::reply)));
    }

    @GetMapping("/{id}")
    ResponseEntity<Object> getSpecialty(@PathVariable String id) {
        int row = Answers.id(id);
        return answers.answerFound("GetSpecialty", () -> clinic.getSpecialty(row, answers.encodeWith(messages::reply)));
    }

    @PutMapping("/{id}")
    ResponseEntity<Object> updateSpecialty(@PathVariable String id, @RequestBody(required = false) byte[] body) {
        int row = Answers.id(id);
        return answers.answerChanged("UpdateSpecialty", body, request -> clinic.updateSpecialty(row, messages.specialty(request)));
    }

    @DeleteMapping("/{id}")
    ResponseEntity<Object> deleteSpecialty(@PathVariable String id) {
        int row = Answers.id(id);
        return answers.answerDeleted("DeleteSpecialty", () -> clinic.deleteSpecialty(row));
    }
}
