"""Usability surveys: a kit for people who try two libraries, and the evaluation of their answers.

After Hamo and Saberian (2023), *Evaluating the performance and usability of HTTP vs gRPC in
communication between microservices*, section 3 and appendix A.
"""
